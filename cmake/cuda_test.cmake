# cmake -D SOURCE=... -D BUILD=... -D GENERATOR=... -D COMPILER=... -P cuda_test.cmake: compiles the CUDA kernels and their tests
# with warnings as errors, where nvcc is found, in a build folder of its own and without torch. Runs nothing: that needs a GPU. Nor
# does it optimize, which takes three times as long.

cmake_minimum_required(VERSION 3.25)

find_program(nvcc nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
if(NOT nvcc)
  message(STATUS "skipped: nvcc was not found")  # SKIP_REGULAR_EXPRESSION of the test
  return()
endif()
set(folder ${BUILD}/cuda_kernels)
foreach(step "-S;${SOURCE};-B;${folder};-G;${GENERATOR};-DCMAKE_CXX_COMPILER=${COMPILER};-DCMAKE_CUDA_COMPILER=${nvcc};-DHEED_TEXT=OFF;-DHEED_CUDA=ON;-DHEED_WERROR=ON;-DCMAKE_CUDA_FLAGS_RELEASE=-Xcicc -O1 -Xptxas -O0"
             "--build;${folder};--target;heed_cuda;heed_cuda_tests")
  execute_process(COMMAND ${CMAKE_COMMAND} ${step} RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "cmake ${step}\nended with ${code}:\n${said}")
  endif()
endforeach()
message(STATUS "the CUDA kernels compile with ${nvcc}")
