# cmake -D SOURCE=... -D BUILD=... -D COMPILER=... -D "PREFIX_PATH=..." -D TORCH=ON|OFF -P dependencies_test.cmake: configures
# with one package hidden at a time. The error must name the package and the option, and with the option OFF configuring
# must succeed.

set(folder ${BUILD}/dependencies)
file(REMOVE_RECURSE ${folder})

# configure(<argument>...): sets `code` (exit status) and `said` (output) in the caller's scope.
function(configure)
  file(REMOVE ${folder}/CMakeCache.txt)  # the compiler checks are kept
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${folder} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
                          "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}" -DHEED_BENCH=OFF ${ARGN}
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

# expect_required(<package> <option> [<argument>...])
function(expect_required package option)
  configure(-DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON ${ARGN})
  expect_error("${option} needs ${package}")
  expect_error("-D${option}=OFF")
  configure(-DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON -D${option}=OFF ${ARGN})
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "without ${package}, -D${option}=OFF:\n${said}")
  endif()
  message(STATUS "${option} needs ${package}")
endfunction()

if(NOT TORCH)
  expect_required(GTest HEED_TESTS -DHEED_TEXT=OFF)
  return()
endif()
expect_required(nlohmann_json HEED_TEXT)
expect_required(yaml-cpp HEED_TEXT)
expect_required(ZLIB HEED_TEXT)
expect_required(Torch HEED_TORCH)
expect_required(CLI11 HEED_CLI)
expect_required(PNG HEED_PNG)
expect_required(Freetype HEED_PNG)
expect_required(GTest HEED_TESTS)

# An unsupported version of PyTorch is refused.
foreach(version 1.12.1 2.0.0 2.3.1)
  file(WRITE ${folder}/old/TorchConfig.cmake "")
  file(WRITE ${folder}/old/TorchConfigVersion.cmake "set(PACKAGE_VERSION ${version})\n")
  configure(-DTorch_DIR=${folder}/old)
  expect_error("got PyTorch ${version}")
  expect_error("at least 2.4")
endforeach()
