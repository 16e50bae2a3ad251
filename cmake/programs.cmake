# Programs on the whole library.

# heed_program(<target> <file>...)
function(heed_program target)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE heed)
  heed_torch_files(${target})
endfunction()

# apps/cli: the program heed, and what it says of itself for man and shells.
function(heed_cli)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/apps/cli/*.cpp)
  if(HEED_PNG)
    list(FILTER sources EXCLUDE REGEX "/heat/png_absent\\.cpp$")
  else()  # png_absent.cpp refuses --png
    list(FILTER sources EXCLUDE REGEX "/heat/png/.*\\.cpp$")
  endif()
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")

  add_library(heed_commands OBJECT ${sources})  # compiled once, for the program and for its tests
  target_link_libraries(heed_commands PUBLIC heed CLI11::CLI11 $<$<BOOL:${HEED_PNG}>:PNG::PNG Freetype::Freetype>)
  heed_torch_files(heed_commands)

  heed_program(heed_cli ${PROJECT_SOURCE_DIR}/apps/cli/main.cpp)
  target_link_libraries(heed_cli PRIVATE heed_commands)
  set_target_properties(heed_cli PROPERTIES OUTPUT_NAME heed)
  if(tests AND HEED_TESTS)
    heed_test_program(cli LIBRARY heed FILES ${tests} LINK heed_commands)
    add_dependencies(cli_test heed_cli)  # program_test.cpp runs it
    set_property(SOURCE ${PROJECT_SOURCE_DIR}/apps/cli/program_test.cpp
                 APPEND PROPERTY COMPILE_DEFINITIONS HEED_PROGRAM="$<TARGET_FILE:heed_cli>")
  endif()
endfunction()

# heed_generated_page(<file> <argument>...): what `heed <argument>...` prints.
function(heed_generated_page file)
  add_custom_command(OUTPUT ${file} COMMAND heed_cli ${ARGN} > ${file} DEPENDS heed_cli VERBATIM COMMENT "Writing ${file}")
endfunction()

# bench/<name>.cpp: the program bench_<name>.
function(heed_bench)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cpp)
  foreach(source ${sources})
    cmake_path(GET source STEM name)
    heed_program(bench_${name} ${source})
  endforeach()
endfunction()

# examples/<name>.cpp: a program of that name, run as a test.
function(heed_examples)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp)
  foreach(source ${sources})
    cmake_path(GET source STEM name)
    heed_program(example_${name} ${source})
    if(HEED_TESTS)
      add_test(NAME example.${name} COMMAND example_${name})
      set_tests_properties(example.${name} PROPERTIES LABELS example TIMEOUT 300)
    endif()
  endforeach()
endfunction()
