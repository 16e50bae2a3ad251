# Tests of the project as a whole.

# heed_script_test(<name> LABEL <label> TIMEOUT <seconds> COMMAND <command>...): no argument may be a list.
function(heed_script_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "COMMAND" ${ARGN})
  add_test(NAME ${name} COMMAND ${ARG_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
endfunction()

# Arguments of cmake with which another build folder finds what this one has found, and builds no more than it.
set(configured "")
if(HEED_CUDA)
  list(APPEND configured -DHEED_CUDA=ON -DCMAKE_CUDA_COMPILER=${CMAKE_CUDA_COMPILER})
endif()
foreach(option HEED_TEXT HEED_TORCH HEED_TRAIN HEED_CLI HEED_PNG HEED_OPENMP_BLAS HEED_PROCESSES HEED_EXAMPLES)
  if(NOT ${option})
    list(APPEND configured -D${option}=OFF)
  endif()
endforeach()
foreach(found Torch_DIR nlohmann_json_DIR yaml-cpp_DIR CLI11_DIR GTest_DIR HEED_BLAS_FOLDER)
  if(${found})
    list(APPEND configured -D${found}=${${found}})
  endif()
endforeach()

set(tools ${PROJECT_SOURCE_DIR}/tools)
heed_script_test(check_layers LABEL project TIMEOUT 60 COMMAND ${tools}/check_layers)
heed_script_test(check_layers_test LABEL project TIMEOUT 60 COMMAND ${tools}/check_layers_test)
heed_script_test(check_vocabulary LABEL project TIMEOUT 60 COMMAND ${tools}/check_vocabulary)
heed_script_test(check_vocabulary_test LABEL project TIMEOUT 60 COMMAND ${tools}/check_vocabulary_test)
heed_script_test(bench_compare_test LABEL project TIMEOUT 60 COMMAND ${tools}/bench_compare_test)
heed_script_test(count_tests_test LABEL project TIMEOUT 60 COMMAND ${tools}/count_tests_test)
heed_script_test(mutations LABEL project TIMEOUT 60 COMMAND ${tools}/mutate --check)  # every entry still matches the sources
heed_script_test(mutate_test LABEL project TIMEOUT 120 COMMAND ${tools}/mutate_test)
heed_script_test(check_documents_test LABEL docs TIMEOUT 60 COMMAND ${tools}/check_documents_test)
add_test(NAME dependencies
         COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D BUILD=${PROJECT_BINARY_DIR} -D GENERATOR=${CMAKE_GENERATOR}
                 -D COMPILER=${CMAKE_CXX_COMPILER} -D "PREFIX_PATH=${CMAKE_PREFIX_PATH}" -D "CONFIGURED=${configured}"
                 -P ${PROJECT_SOURCE_DIR}/cmake/dependencies_test.cmake)
set_tests_properties(dependencies PROPERTIES LABELS project TIMEOUT 600)
if(NOT HEED_CUDA)
  add_test(NAME cuda_compiles
           COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D BUILD=${PROJECT_BINARY_DIR} -D GENERATOR=${CMAKE_GENERATOR}
                   -D COMPILER=${CMAKE_CXX_COMPILER} -P ${PROJECT_SOURCE_DIR}/cmake/cuda_test.cmake)
  set_tests_properties(cuda_compiles PROPERTIES LABELS project TIMEOUT 600 COST 60 SKIP_REGULAR_EXPRESSION "skipped: ")
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64" AND CMAKE_BUILD_TYPE STREQUAL "Release")
  heed_script_test(check_symbols LABEL project TIMEOUT 60 COMMAND ${tools}/check_symbols ${PROJECT_BINARY_DIR})
endif()

if(HEED_TORCH AND NOT APPLE)
  heed_script_test(check_exports LABEL project TIMEOUT 60 COMMAND ${tools}/check_exports $<TARGET_FILE:heed>)
endif()

# The program: killed and resumed, in two processes, and with the commands of the documents.
if(HEED_CLI)
  heed_script_test(kill_and_resume LABEL cli TIMEOUT 300 COMMAND ${tools}/kill_and_resume $<TARGET_FILE:heed_cli> 12 3 2 2 2)
  heed_script_test(two_processes LABEL cli TIMEOUT 300 COMMAND ${tools}/two_processes $<TARGET_FILE:heed_cli>)
  set_tests_properties(kill_and_resume PROPERTIES COST 60)
  set_tests_properties(two_processes PROPERTIES SKIP_RETURN_CODE 77)  # a build without gloo
  heed_script_test(check_pages LABEL cli TIMEOUT 300 COMMAND ${tools}/check_pages --test-program $<TARGET_FILE:cli_test>)
  set_tests_properties(check_pages PROPERTIES SKIP_RETURN_CODE 77)  # without Chromium, or playwright for Python
  heed_script_test(documents LABEL docs TIMEOUT 600 COMMAND ${tools}/check_documents --build ${PROJECT_BINARY_DIR})
  set_tests_properties(documents PROPERTIES COST 120)
endif()
if(HEED_OPENMP_BLAS AND HEED_BLAS_FOLDER AND HEED_CLI)
  heed_script_test(blas LABEL project TIMEOUT 60 COMMAND ${tools}/check_blas $<TARGET_FILE:heed_cli> ${HEED_BLAS_FOLDER})
endif()

# Installs each component into its own prefix, moves it and builds a user project against it.
set(components kernels)
if(HEED_TEXT)
  list(APPEND components text)
endif()
if(HEED_TORCH)
  list(APPEND components torch)
endif()
if(HEED_CLI AND HEED_INSTALL_RPATH AND NOT CMAKE_SKIP_INSTALL_RPATH)
  list(APPEND components program)
endif()
set(torch_rpath "")
if(HEED_TORCH)
  cmake_path(GET TORCH_LIBRARY PARENT_PATH torch_folder)
  set(torch_rpath -Wl,-rpath,${torch_folder})
endif()
if(NOT HEED_INSTALL)
  return()
endif()
add_test(NAME package
         COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D BUILD=${PROJECT_BINARY_DIR} -D "COMPONENTS=${components}"
                 -D GENERATOR=${CMAKE_GENERATOR} -D COMPILER=${CMAKE_CXX_COMPILER} -D SANITIZE=${HEED_SANITIZE}
                 -D "PREFIX_PATH=${CMAKE_PREFIX_PATH}" -D LIBDIR=${CMAKE_INSTALL_LIBDIR} -D PKG_CONFIG=${HEED_PKG_CONFIG}
                 -D TORCH_RPATH=${torch_rpath} -D TORCH_DIR=${Torch_DIR} -D TORCH_PREFIX=${TORCH_INSTALL_PREFIX}
                 -D FULL_LIBDIR=${CMAKE_INSTALL_FULL_LIBDIR} -D CAN_MOVE=${HEED_PREFIX_CAN_MOVE} -D "CONFIGURED=${configured}"
                 -P ${PROJECT_SOURCE_DIR}/cmake/package_test.cmake)
set_tests_properties(package PROPERTIES LABELS project TIMEOUT 900 COST 150)
