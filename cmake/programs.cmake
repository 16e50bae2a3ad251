# Programs: the command line, benchmarks and examples.

# heed_program(<target> <file>... LIBRARY <library>): a program that links the library.
function(heed_program target)
  cmake_parse_arguments(ARG "" "LIBRARY" "" ${ARGN})
  add_executable(${target} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${target} PRIVATE ${ARG_LIBRARY})
  heed_torch_files(${target})
endfunction()

# apps/cli: the program heed, its manual page and shell completions. It links no torch: commands that need torch are in a
# module, which the program loads on demand (apps/cli/module.h).
#
#   heed_parser     apps/cli/*.cpp, ablate, eval_metric, image: the parser, the commands without torch, and the options of
#                   the commands with torch
#   heed_commands   apps/cli/torch, apps/cli/heat, apps/cli/explain: the bodies of the commands with torch; linked into
#                   heed_module
#   heed_catalogue  apps/cli/catalogue: writes the data of `heed list` during the build
function(heed_cli)
  set(folder ${PROJECT_SOURCE_DIR}/apps/cli)
  file(GLOB program CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/ablate/*.cpp)
  file(GLOB_RECURSE of_files CONFIGURE_DEPENDS ${folder}/eval_metric/*.cpp ${folder}/image/*.cpp)
  list(APPEND program ${of_files})  # heed eval of files: its metrics, and the images that they read
  file(GLOB_RECURSE commands CONFIGURE_DEPENDS ${folder}/torch/*.cpp ${folder}/heat/*.cpp ${folder}/explain/*.cpp)
  if(HEED_PNG)
    list(FILTER commands EXCLUDE REGEX "/heat/png_absent\\.cpp$")
    list(FILTER program EXCLUDE REGEX "/image/png_absent\\.cpp$")
  else()  # png_absent.cpp refuses --png, or PNG files
    list(FILTER commands EXCLUDE REGEX "/heat/png/.*\\.cpp$")
    list(FILTER program EXCLUDE REGEX "/image/png/.*\\.cpp$")
  endif()
  set(tests ${program} ${commands})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER program EXCLUDE REGEX "(_test|/main)\\.cpp$")
  list(FILTER commands EXCLUDE REGEX "_test\\.cpp$")

  add_library(heed_parser STATIC ${program})  # needs only the headers of heed_text: tests link its code from heed_internal
  heed_unity(heed_parser ${program})
  target_compile_options(heed_parser PRIVATE $<$<CONFIG:Release>:-O1>)  # parses options once: a third less to compile than -O2
  target_include_directories(heed_parser PUBLIC ${PROJECT_SOURCE_DIR} ${HEED_GENERATED})
  target_link_libraries(heed_parser PUBLIC CLI11::CLI11 nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS} $<$<BOOL:${HEED_PNG}>:PNG::PNG>)
  set(module_name ${CMAKE_SHARED_MODULE_PREFIX}heed_commands${CMAKE_SHARED_MODULE_SUFFIX})
  set_property(SOURCE ${folder}/module.cpp
               APPEND PROPERTY COMPILE_DEFINITIONS HEED_MODULE="${HEED_LIBRARY_FOLDER}/heed/${module_name}")

  add_library(heed_commands OBJECT ${commands})  # compiled once, for the module and for tests
  target_link_libraries(heed_commands PUBLIC heed_internal CLI11::CLI11 $<$<BOOL:${HEED_PNG}>:PNG::PNG Freetype::Freetype>)
  heed_torch_files(heed_commands)
  heed_unity(heed_commands ${commands})
  set(pictures ${commands})
  list(FILTER pictures INCLUDE REGEX "/(heat|explain)/")
  set_property(SOURCE ${pictures} PROPERTY SKIP_PRECOMPILE_HEADERS ON)  # they include no torch
  add_library(heed_module MODULE)
  target_link_libraries(heed_module PRIVATE heed_commands heed_parser)
  set_target_properties(heed_module PROPERTIES OUTPUT_NAME heed_commands LINKER_LANGUAGE CXX
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})  # next to the program
  if(HEED_MODULE_RPATH)
    set_target_properties(heed_module heed_internal PROPERTIES INSTALL_RPATH "${HEED_MODULE_RPATH}")
  endif()

  heed_catalogue()
  add_executable(heed_cli ${folder}/main.cpp)
  target_link_libraries(heed_cli PRIVATE heed_parser heed_catalogue_cards heed_text)
  set_target_properties(heed_cli PROPERTIES OUTPUT_NAME heed LINK_LIBRARY_OVERRIDE WHOLE_ARCHIVE,heed_parser)
  add_dependencies(heed_cli heed_module)
  if(tests AND HEED_TESTS)
    heed_test_program(cli LIBRARY heed_objects FILES ${tests} LINK heed_commands heed_catalogue_cards heed_parser)
    set_target_properties(cli_test PROPERTIES LINK_LIBRARY_OVERRIDE WHOLE_ARCHIVE,heed_parser)
    add_dependencies(cli_test heed_cli)
    set(starting ${tests})
    list(FILTER starting INCLUDE REGEX "/program_([a-z_]*_)?test.cpp$")  # they start the program
    set_property(SOURCE ${starting}
                 APPEND PROPERTY COMPILE_DEFINITIONS HEED_PROGRAM="$<TARGET_FILE:heed_cli>" HEED_PNG=$<BOOL:${HEED_PNG}>)
  endif()
endfunction()

# apps/cli/catalogue: collects the cards of the parts of libheed and writes them into a source file, so that `heed list`
# needs no torch.
function(heed_catalogue)
  add_executable(heed_catalogue ${PROJECT_SOURCE_DIR}/apps/cli/catalogue/write.cpp)
  target_link_libraries(heed_catalogue PRIVATE heed_commands heed_parser)
  set(file ${HEED_GENERATED}/apps/cli/catalogue_cards.cpp)
  add_custom_command(OUTPUT ${file} DEPENDS heed_catalogue heed_internal VERBATIM COMMENT "Writing the cards of the catalogue"
                     COMMAND ${CMAKE_COMMAND} -E make_directory ${HEED_GENERATED}/apps/cli
                     COMMAND heed_catalogue ${file}.new
                     COMMAND ${CMAKE_COMMAND} -E copy_if_different ${file}.new ${file})
  add_library(heed_catalogue_cards OBJECT ${file})
  target_include_directories(heed_catalogue_cards PRIVATE ${PROJECT_SOURCE_DIR} ${HEED_GENERATED})
endfunction()

# heed_generated_page(<file> <argument>...): writes the output of `heed <argument>...` to the file.
function(heed_generated_page file)
  add_custom_command(OUTPUT ${file} COMMAND heed_cli ${ARGN} > ${file} DEPENDS heed_cli VERBATIM COMMENT "Writing ${file}")
endfunction()

# bench/<name>.cpp: the program bench_<name>; cuda_<name>.cpp with HEED_CUDA alone.
function(heed_bench)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cpp)
  if(NOT HEED_CUDA)
    list(FILTER sources EXCLUDE REGEX "/cuda_[a-z_]*\\.cpp$")
  endif()
  foreach(source ${sources})
    cmake_path(GET source STEM name)
    heed_program(bench_${name} ${source} LIBRARY heed_internal)
    if(name MATCHES "^cuda_")
      target_link_libraries(bench_${name} PRIVATE CUDA::cudart_static)
    endif()
  endforeach()
endfunction()

# examples/<name>.cpp: a program of that name, run as a test.
function(heed_examples)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp)
  foreach(source ${sources})
    cmake_path(GET source STEM name)
    heed_program(example_${name} ${source} LIBRARY heed)  # as users link it
    if(HEED_TESTS)
      add_test(NAME example.${name} COMMAND example_${name})
      set_tests_properties(example.${name} PROPERTIES LABELS example TIMEOUT 300)
    endif()
  endforeach()
endfunction()
