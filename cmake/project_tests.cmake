# Tests of the project itself.

if(NOT HEED_TESTS OR NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

add_test(NAME check_layers COMMAND ${PROJECT_SOURCE_DIR}/tools/check_layers)
add_test(NAME check_layers_test COMMAND ${PROJECT_SOURCE_DIR}/tools/check_layers_test)
set_tests_properties(check_layers check_layers_test PROPERTIES LABELS project TIMEOUT 60)
add_test(NAME count_tests_test COMMAND ${PROJECT_SOURCE_DIR}/tools/count_tests_test)
set_tests_properties(count_tests_test PROPERTIES LABELS project TIMEOUT 60)
find_program(HEED_PYTHON python3)
if(HEED_PYTHON)
  add_test(NAME mutations COMMAND ${PROJECT_SOURCE_DIR}/tools/mutate --check)  # every entry still fits the sources
  add_test(NAME mutate_test COMMAND ${PROJECT_SOURCE_DIR}/tools/mutate_test)
  set_tests_properties(mutations mutate_test PROPERTIES LABELS project TIMEOUT 120)
else()
  message(STATUS "the lists of tools/mutate are not checked: python3 not found")
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64" AND CMAKE_BUILD_TYPE STREQUAL "Release")
  add_test(NAME check_symbols COMMAND ${PROJECT_SOURCE_DIR}/tools/check_symbols ${PROJECT_BINARY_DIR})
  set_tests_properties(check_symbols PROPERTIES LABELS project TIMEOUT 60)
endif()

# The program, killed and resumed, and as two processes.
if(TARGET heed_cli)
  add_test(NAME kill_and_resume COMMAND ${PROJECT_SOURCE_DIR}/tools/kill_and_resume $<TARGET_FILE:heed_cli> 12 3 2 2 2)
  add_test(NAME two_processes COMMAND ${PROJECT_SOURCE_DIR}/tools/two_processes $<TARGET_FILE:heed_cli>)
  set_tests_properties(kill_and_resume two_processes PROPERTIES LABELS cli TIMEOUT 300)
  set_tests_properties(two_processes PROPERTIES SKIP_RETURN_CODE 77)  # where there is no gloo
endif()

# Installs into a folder of its own and builds a stranger's project against it, for each component.
set(components kernels)
if(HEED_TORCH)
  list(APPEND components torch)
endif()
add_test(NAME package COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D BUILD=${PROJECT_BINARY_DIR} -D "COMPONENTS=${components}"
                              -D GENERATOR=${CMAKE_GENERATOR} -D COMPILER=${CMAKE_CXX_COMPILER} -D SANITIZE=${HEED_SANITIZE}
                              -D "PREFIX_PATH=${CMAKE_PREFIX_PATH}" -P ${PROJECT_SOURCE_DIR}/cmake/package_test.cmake)
set_tests_properties(package PROPERTIES LABELS project TIMEOUT 300)
