# Layers, and what is made of them. Files are found, not listed, so that a new part is a new file and
# nothing else; a layer without files yet is an empty layer.

set(HEED_TEST_HEADERS "(_cases|/testing[^/]*)\\.h$")  # seen by tests, not installed

# heed_library(<target> EXPORT_NAME <name>): heed::<name>, here and where it is installed.
function(heed_library target)
  cmake_parse_arguments(ARG "" "EXPORT_NAME" "" ${ARGN})
  add_library(heed::${ARG_EXPORT_NAME} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${ARG_EXPORT_NAME} LINKER_LANGUAGE CXX DEFINE_SYMBOL "")
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${HEED_GENERATED}>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

# heed_on_torch(<library>): links torch, and takes heed_kernels in whole, so that programs find one copy.
function(heed_on_torch library)
  add_library(heed_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
  target_link_libraries(heed_pch PRIVATE torch)
  target_include_directories(heed_pch PRIVATE ${PROJECT_SOURCE_DIR} ${HEED_GENERATED})
  target_precompile_headers(heed_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h)
  target_compile_options(heed_pch PRIVATE -fopenmp -Winvalid-pch -Werror=invalid-pch)

  target_link_libraries(${library} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,heed_kernels> PUBLIC torch)
  if(TARGET torch_cuda)  # an older NCCL beside the toolkit may hide the one this PyTorch brings: leave it to the loader
    target_link_options(${library} PUBLIC -Wl,--allow-shlib-undefined)
  endif()
  heed_torch_files(${library})
endfunction()

# heed_torch_files(<target>): its files include torch: the precompiled header, and -fopenmp, without which
# at::parallel_for is compiled to run serially. (The flag, not OpenMP::OpenMP_CXX: a PyTorch brings a libgomp of its own.)
function(heed_torch_files target)
  target_compile_options(${target} PRIVATE -fopenmp -Winvalid-pch -Werror=invalid-pch)
  target_link_options(${target} PRIVATE -fopenmp)
  target_precompile_headers(${target} REUSE_FROM heed_pch)
endfunction()

# heed_layer(<layer> INTO <library>): everything in heed/<layer> joins <library>; its *_test.cpp files become
# one test program, <layer>_test.
function(heed_layer layer)
  cmake_parse_arguments(ARG "" "INTO" "" ${ARGN})
  set(folder ${PROJECT_SOURCE_DIR}/heed/${layer})
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${folder}/*.h ${folder}/*.cuh)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/*.cu)
  if(NOT HEED_CUDA)
    list(FILTER sources EXCLUDE REGEX "/kernels/cuda/|\\.cu$")
  elseif(sources MATCHES "/kernels/cuda/")
    target_link_libraries(${ARG_INTO} PUBLIC CUDA::cudart_static)
    target_compile_definitions(${ARG_INTO} PUBLIC HEED_CUDA=1)
  endif()
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.(cpp|cu)$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.(cpp|cu)$")
  list(FILTER headers EXCLUDE REGEX "${HEED_TEST_HEADERS}")

  heed_missing(missing ${sources})
  if(missing)
    message(STATUS "heed/${layer} is left out: ${missing} not found")
    return()
  endif()
  target_sources(${ARG_INTO} PRIVATE ${sources} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  heed_link_what_they_include(${ARG_INTO} ${sources})
  heed_instruction_sets(${sources})
  heed_unity(${ARG_INTO} ${sources})
  if(tests AND HEED_TESTS)
    heed_test_program(${layer} ${ARG_INTO} ${tests})
  endif()
endfunction()

# heed_face(INTO <library>): the headers heed/*.h, which gather the layers for users.
function(heed_face)
  cmake_parse_arguments(ARG "" "INTO" "" ${ARGN})
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/heed/*.h)
  target_sources(${ARG_INTO} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
endfunction()

# heed_test_program(<layer> <library> <file>...): one program, one ctest for each of its shards.
function(heed_test_program layer library)
  set(program ${layer}_test)
  add_executable(${program} ${ARGN})
  target_link_libraries(${program} PRIVATE ${library} GTest::gtest_main GTest::gtest)
  heed_link_what_they_include(${program} ${ARGN})
  heed_unity(${program} ${ARGN})
  set(environment "")
  if(library STREQUAL heed)
    heed_torch_files(${program})
    if(HEED_SANITIZE)
      set(environment ASAN_OPTIONS=detect_leaks=0)  # torch is not instrumented
    endif()
  endif()

  set(shards 1)
  if(layer MATCHES "^(attention|structures)$")
    set(shards 2)
  endif()
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    set(name ${layer})
    if(shards GREATER 1)
      set(name ${layer}.${shard})
    endif()
    add_test(NAME ${name} COMMAND ${program} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES LABELS ${layer} TIMEOUT 600
                         ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard};${environment}")
  endforeach()
endfunction()

# A header of somebody else, and the target that brings it.
set(HEED_OUTSIDE "CLI/=CLI11::CLI11" "nlohmann/=nlohmann_json::nlohmann_json" "yaml-cpp/=yaml-cpp::yaml-cpp" "zlib.h=ZLIB::ZLIB"
                 "png.h=PNG::PNG" "ft2build.h=Freetype::Freetype" "benchmark/=benchmark::benchmark")

# heed_outside(<variable> <file>...): the outside targets whose headers these files include.
function(heed_outside variable)
  set(found "")
  foreach(file ${ARGN})
    file(STRINGS ${file} includes REGEX "^#include <")
    foreach(pair ${HEED_OUTSIDE})
      string(REGEX REPLACE "=.*" "" header ${pair})
      string(REGEX REPLACE ".*=" "" target ${pair})
      if(includes MATCHES "<${header}")
        list(APPEND found ${target})
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES found)
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# heed_missing(<variable> <file>...): those of them that were not found on this machine.
function(heed_missing variable)
  heed_outside(targets ${ARGN})
  set(missing "")
  foreach(target ${targets})
    if(NOT TARGET ${target})
      list(APPEND missing ${target})
    endif()
  endforeach()
  set(${variable} ${missing} PARENT_SCOPE)
endfunction()

function(heed_link_what_they_include target)
  heed_outside(targets ${ARGN})
  if(targets)
    target_link_libraries(${target} PRIVATE ${targets})
  endif()
endfunction()

# heed_program(<target> <file>...): a program on the whole library.
function(heed_program target)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE heed)
  heed_link_what_they_include(${target} ${ARGN})
  heed_torch_files(${target})
endfunction()

# apps/cli: the program heed.
function(heed_cli)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/apps/cli/*.cpp)
  set(pictures ${sources})  # may be left out: a file that says so then stands in for them
  list(FILTER pictures INCLUDE REGEX "/heat/png/")
  heed_missing(missing ${pictures})
  if(missing)
    message(STATUS "heed draws no PNG: ${missing} not found")
    list(FILTER sources EXCLUDE REGEX "/heat/png/.*\\.cpp$")
  else()
    list(FILTER sources EXCLUDE REGEX "/heat/png_absent\\.cpp$")
  endif()
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  heed_missing(missing ${sources})
  if(NOT HEED_APPS OR NOT sources)
    return()
  elseif(missing)
    message(STATUS "the program heed is left out: ${missing} not found")
    return()
  endif()
  set(main ${sources})
  list(FILTER main INCLUDE REGEX "/main\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")

  add_library(heed_commands OBJECT ${sources})  # compiled once, for the program and for its tests
  target_link_libraries(heed_commands PUBLIC heed)
  heed_link_what_they_include(heed_commands ${sources})
  heed_torch_files(heed_commands)

  heed_program(heed_cli ${main})
  target_link_libraries(heed_cli PRIVATE heed_commands)
  set_target_properties(heed_cli PROPERTIES OUTPUT_NAME heed)
  install(TARGETS heed_cli RUNTIME COMPONENT program)
  if(tests AND HEED_TESTS)
    heed_test_program(cli heed ${tests})
    target_link_libraries(cli_test PRIVATE heed_commands)
    add_dependencies(cli_test heed_cli)  # program_test.cpp runs it
    set_property(SOURCE ${PROJECT_SOURCE_DIR}/apps/cli/program_test.cpp
                 APPEND PROPERTY COMPILE_DEFINITIONS HEED_PROGRAM="$<TARGET_FILE:heed_cli>")
  endif()
endfunction()

# bench/<name>.cpp: the program bench_<name>.
function(heed_bench)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cpp)
  if(NOT HEED_BENCH)
    return()
  endif()
  foreach(source ${sources})
    cmake_path(GET source STEM name)
    heed_missing(missing ${source})
    if(missing)
      message(STATUS "bench/${name} is left out: ${missing} not found")
    else()
      heed_program(bench_${name} ${source})
    endif()
  endforeach()
endfunction()

# examples/<name>.cpp: a program of that name, run as a test.
function(heed_examples)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp)
  if(NOT HEED_EXAMPLES)
    return()
  endif()
  foreach(source ${sources})
    cmake_path(GET source STEM name)
    heed_program(example_${name} ${source})
    if(HEED_TESTS)
      add_test(NAME example.${name} COMMAND example_${name})
      set_tests_properties(example.${name} PROPERTIES LABELS example TIMEOUT 300)
    endif()
  endforeach()
endfunction()

# heed_instruction_sets(<file>...): *_avx2.cpp and *_avx512.cpp of kernels are compiled for theirs, and all with -O3.
function(heed_instruction_sets)
  set(fast ${ARGN})
  list(FILTER fast INCLUDE REGEX "/heed/kernels/.*\\.cpp$")
  if(NOT fast)
    return()
  endif()
  # -Wno-psabi: a vector of four doubles has no fixed way from function to function; ours stay inside one file.
  set_property(SOURCE ${fast} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O3> -Wno-psabi)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
    return()
  endif()
  foreach(file ${fast})
    if(file MATCHES "_avx(2|512)\\.cpp$")  # never -O0: it would leave functions of the standard library
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS $<$<NOT:$<CONFIG:Release>>:-O2>)
    endif()
    if(file MATCHES "_avx2\\.cpp$")
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS -mavx2 -mfma)
    elseif(file MATCHES "_avx512\\.cpp$")
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma)
    endif()
  endforeach()
endfunction()

# heed_unity(<target> <file>...): the parts of one family (a folder below attention, structures, models or train) are compiled as one
# file, and so are their tests. A part takes 1 s, reading the precompiled header 4 s; names in unnamed namespaces there
# must differ from file to file.
function(heed_unity target)
  if(NOT HEED_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(file ${ARGN})
    if(file MATCHES "/heed/(attention|structures|models|train)/([a-z]+)/")
      set_property(SOURCE ${file} PROPERTY UNITY_GROUP ${CMAKE_MATCH_1}_${CMAKE_MATCH_2})
    endif()
  endforeach()
endfunction()
