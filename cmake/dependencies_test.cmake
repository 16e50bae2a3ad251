# cmake -D SOURCE=... -D BUILD=... -D COMPILER=... -D "PREFIX_PATH=..." -D "CONFIGURED=..." -P dependencies_test.cmake:
# configures with one package hidden at a time. The error must name the package and the option, and with the option OFF
# configuring must succeed. CONFIGURED are the arguments that make another build folder like that of the test: a package is
# hidden only if its option is ON there, because the others may be missing anyway.

cmake_minimum_required(VERSION 3.25)

set(folder ${BUILD}/dependencies)
file(REMOVE_RECURSE ${folder})

# configure(<argument>...): sets `code` (exit status) and `said` (output) in the caller's scope.
macro(configure)
  file(REMOVE ${folder}/CMakeCache.txt)  # the compiler checks are kept
  configure_again(-DHEED_BENCH=OFF ${ARGN})
endmacro()

# configure_again(<argument>...): the same with the cache of the last time.
function(configure_again)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${folder} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
                          "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}" ${ARGN}
                  RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  set(code ${code} PARENT_SCOPE)
  set(said "${said}" PARENT_SCOPE)
endfunction()

function(expect_error text)
  string(FIND "${said}" "${text}" at)
  if(code EQUAL 0 OR at EQUAL -1)
    message(FATAL_ERROR "got ${code}, expected an error with \"${text}\":\n${said}")
  endif()
endfunction()

function(expect_success what)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${what}: got ${code}, expected success:\n${said}")
  endif()
  message(STATUS "${what}")
endfunction()

# expect_required(<package> <option>)
function(expect_required package option)
  if("-D${option}=OFF" IN_LIST CONFIGURED)
    message(STATUS "${option} is OFF, ${package} is not hidden")
    return()
  endif()
  configure(${CONFIGURED} -DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
  expect_error("${option} needs ${package}")
  expect_error("-D${option}=OFF")
  configure(${CONFIGURED} -DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON -D${option}=OFF)
  expect_success("${option} needs ${package}")
endfunction()

# expect_conflict(<option> <root>): the option ON and the root OFF is an error that names both and the cure.
function(expect_conflict option root)
  configure(-D${option}=ON -D${root}=OFF)
  expect_error("got ${option}=ON with ${root}=OFF")
  expect_error("-D${root}=ON, or with -D${option}=OFF")
  message(STATUS "${option}=ON is refused with ${root}=OFF")
endfunction()

configure(${CONFIGURED})
expect_success("configures as this build")
expect_required(nlohmann_json HEED_TEXT)
expect_required(yaml-cpp HEED_TEXT)
expect_required(ZLIB HEED_TEXT)
expect_required(Torch HEED_TORCH)
expect_required(CLI11 HEED_CLI)
expect_required(PNG HEED_PNG)
expect_required(Freetype HEED_PNG)
expect_required(GTest HEED_TESTS)

# An option that the user sets to ON is not dropped in silence. These errors come before any package is looked for.
expect_conflict(HEED_TORCH HEED_TEXT)
expect_conflict(HEED_CLI HEED_TRAIN)
expect_conflict(HEED_CLI HEED_TEXT)  # through HEED_TORCH and HEED_TRAIN
expect_conflict(HEED_PNG HEED_CLI)
expect_conflict(HEED_BENCH HEED_TORCH)

# A default follows, even if it is in the cache already. What the user has set stays set.
configure(-DCMAKE_DISABLE_FIND_PACKAGE_Torch=ON)
expect_error("HEED_TORCH needs Torch")
configure_again(-DHEED_TEXT=OFF)
expect_success("defaults follow -DHEED_TEXT=OFF")
configure(-DHEED_TEXT=OFF -DHEED_CLI=OFF)
configure_again(-DHEED_CLI=ON)
expect_error("got HEED_CLI=ON with HEED_TEXT=OFF")
configure_again()
expect_error("got HEED_CLI=ON with HEED_TEXT=OFF")
configure_again(-DHEED_CLI=OFF)
expect_success("-DHEED_CLI=OFF ends the conflict")

# An unsupported version of PyTorch is refused.
foreach(version 1.12.1 2.0.0 2.3.1)
  file(WRITE ${folder}/old/TorchConfig.cmake "")
  file(WRITE ${folder}/old/TorchConfigVersion.cmake "set(PACKAGE_VERSION ${version})\n")
  configure(-DTorch_DIR=${folder}/old)
  expect_error("got PyTorch ${version}")
  expect_error("at least 2.4")
endforeach()

# CUDA kernels need nvcc, and a PyTorch with CUDA or none.
foreach(times RANGE 4)  # wherever there is one
  find_program(nvcc${times} nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
  if(nvcc${times})
    cmake_path(GET nvcc${times} PARENT_PATH from)
    list(APPEND CMAKE_IGNORE_PATH ${from})
  endif()
endforeach()
unset(ENV{CUDACXX})
file(WRITE ${folder}/without_nvcc.cmake "set(CMAKE_IGNORE_PATH \"${CMAKE_IGNORE_PATH}\" CACHE STRING \"\")\n")  # an argument may be no list
configure(${CONFIGURED} -DHEED_CUDA=ON -UCMAKE_CUDA_COMPILER -C ${folder}/without_nvcc.cmake)
expect_error("HEED_CUDA needs nvcc")
expect_error("-DHEED_CUDA=OFF")
message(STATUS "HEED_CUDA needs nvcc")

# The build of the program runs programs, which takes an emulator in a cross build.
set(folder ${folder}/cross)
configure(-DCMAKE_SYSTEM_NAME=Linux)
expect_error("got a cross build without an emulator")
expect_error("-DCMAKE_CROSSCOMPILING_EMULATOR=")
expect_error("-DHEED_CLI=OFF")
configure(-DCMAKE_SYSTEM_NAME=Linux -DHEED_TESTS=OFF -DHEED_TEXT=OFF)
expect_success("a cross build of the libraries needs no emulator")
configure(-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_CROSSCOMPILING_EMULATOR=env -DCMAKE_DISABLE_FIND_PACKAGE_Torch=ON)
expect_error("HEED_TORCH needs Torch")  # the next step
