# Layers, and the libraries made of them. Files are globbed, so that adding a part means adding a file, nothing else.

# heed_library(<target> EXPORT_NAME <name>): the target is called heed::<name> in this build and when installed.
function(heed_library target)
  cmake_parse_arguments(ARG "" "EXPORT_NAME" "" ${ARGN})
  add_library(heed::${ARG_EXPORT_NAME} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${ARG_EXPORT_NAME} LINKER_LANGUAGE CXX DEFINE_SYMBOL ""
                        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${HEED_GENERATED}>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

# heed_whole_archive(<target> OF <archive> EXPORT_NAME <name>): heed::<name> links all of the static library heed::<archive>,
# because static objects register parts in the catalogue. (Not its target: an export keeps names in $<LINK_LIBRARY>.)
function(heed_whole_archive target)
  cmake_parse_arguments(ARG "" "OF;EXPORT_NAME" "" ${ARGN})
  add_library(${target} INTERFACE)
  add_library(heed::${ARG_EXPORT_NAME} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${ARG_EXPORT_NAME})
  target_link_libraries(${target} INTERFACE $<LINK_LIBRARY:WHOLE_ARCHIVE,heed::${ARG_OF}>)
endfunction()

# heed_on_torch(): the libraries on torch. heed_objects compiles the layers once, for two shared libraries: heed exports the
# public API (cmake/public.cmake) and is installed for users; heed_internal exports everything, for tests, benchmarks and the
# module of the program. Both include heed_kernels and heed_text as whole archives; a program links one of the two.
function(heed_on_torch)
  add_library(heed_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
  target_link_libraries(heed_pch PRIVATE torch)
  target_include_directories(heed_pch PRIVATE ${PROJECT_SOURCE_DIR} ${HEED_GENERATED})
  target_precompile_headers(heed_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h)
  target_compile_options(heed_pch PRIVATE -fopenmp -Winvalid-pch -Werror=invalid-pch)

  add_library(heed_objects OBJECT)
  target_include_directories(heed_objects PRIVATE ${PROJECT_SOURCE_DIR} ${HEED_GENERATED})
  target_link_libraries(heed_objects PRIVATE heed_text heed_kernels torch nlohmann_json::nlohmann_json)
  heed_torch_files(heed_objects)

  add_library(heed SHARED $<TARGET_OBJECTS:heed_objects>)
  heed_library(heed EXPORT_NAME heed)
  add_library(heed_internal SHARED $<TARGET_OBJECTS:heed_objects>)
  heed_library(heed_internal EXPORT_NAME internal)
  foreach(library heed heed_internal)
    target_link_libraries(${library} PRIVATE heed_text heed_kernels PUBLIC torch nlohmann_json::nlohmann_json)
    target_link_options(${library} PRIVATE -fopenmp)
    set_target_properties(${library} PROPERTIES LINK_LIBRARY_OVERRIDE WHOLE_ARCHIVE,heed_text,heed_kernels)
    if(TARGET torch_cuda)  # an older NCCL of the toolkit may hide that of PyTorch at link time: leave its symbols to the loader
      target_link_options(${library} PUBLIC -Wl,--allow-shlib-undefined)
    endif()
  endforeach()
  if(NOT HEED_CLI)
    set_target_properties(heed_internal PROPERTIES EXCLUDE_FROM_ALL ON)  # only tests and benchmarks need it
  endif()
endfunction()

# heed_torch_files(<target>): for targets whose files include torch. Adds the precompiled header, and -fopenmp, without
# which at::parallel_for is compiled to run serially. (The flag, not OpenMP::OpenMP_CXX: PyTorch ships its own libgomp.)
function(heed_torch_files target)
  target_compile_options(${target} PRIVATE -fopenmp -Winvalid-pch -Werror=invalid-pch)
  target_link_options(${target} PRIVATE -fopenmp)
  target_precompile_headers(${target} REUSE_FROM heed_pch)
endfunction()

# heed_layer(<layer> INTO <library> [TESTS_LINK <target>...] [WITHOUT <file>...]): adds all files in heed/<layer> to <library>,
# except these. Its *_test.cpp files become one test program, <layer>_test, which also links <target>...
function(heed_layer layer)
  cmake_parse_arguments(ARG "" "INTO" "TESTS_LINK;WITHOUT" ${ARGN})
  set(folder ${PROJECT_SOURCE_DIR}/heed/${layer})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  foreach(file ${ARG_WITHOUT})
    list(REMOVE_ITEM sources ${folder}/${file})
  endforeach()
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cpp$")
  target_sources(${ARG_INTO} PRIVATE ${sources})
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTY HEED_LIBRARY_OF_${layer} ${ARG_INTO})
  heed_instruction_sets(${sources})
  heed_unity(${ARG_INTO} ${sources})
  if(tests AND HEED_TESTS)
    heed_test_program(${layer} LIBRARY ${ARG_INTO} FILES ${tests} LINK ${ARG_TESTS_LINK})
  endif()
endfunction()

# heed_instruction_sets(<file>...): compiles *_avx2.cpp and *_avx512.cpp of kernels for their instruction set, and all
# kernels with -O3.
function(heed_instruction_sets)
  set(fast ${ARGN})
  list(FILTER fast INCLUDE REGEX "/heed/kernels/.*\\.cpp$")
  list(FILTER fast EXCLUDE REGEX "/reference/(score|align)/")  # a file with options of its own is left out of its group
  if(NOT fast)
    return()
  endif()
  # -Wno-psabi: the ABI for passing a vector of four doubles has changed; ours are only passed inside one file.
  set_property(SOURCE ${fast} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O3> -Wno-psabi)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
    return()
  endif()
  foreach(file ${fast})
    if(file MATCHES "_avx(2|512)\\.cpp$")  # never -O0: it would leave functions of the standard library in the object
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS $<$<NOT:$<CONFIG:Release>>:-O2>)
    endif()
    if(file MATCHES "_avx2\\.cpp$")
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS -mavx2 -mfma)
    elseif(file MATCHES "_avx512\\.cpp$")
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma)
    endif()
  endforeach()
endfunction()

# heed_unity(<target> <file>...): compiles files in groups, each as one file (unity build). g++ instantiates the pending
# templates of torch's precompiled header at the end of every file, 4 s each, while a part takes 1 s; the header of CLI11
# takes 10 s. Names in unnamed namespaces must therefore differ within a group. An edit recompiles one group: at most
# three quarters of a minute. Folders of base, data, metrics and the reference are groups as well, because reading the
# standard library's headers takes most of the time of a small file.
function(heed_unity target)
  if(NOT HEED_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(file ${ARGN})
    heed_unity_group(group ${file})
    if(group)
      set_property(SOURCE ${file} PROPERTY UNITY_GROUP ${group})
    endif()
  endforeach()
endfunction()

# heed_unity_group(<variable> <file>): the group of a file, or empty. A folder is a group; small folders are joined, large
# ones are split by the first letter.
function(heed_unity_group variable file)
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${file})
  cmake_path(GET path PARENT_PATH folder)
  string(REPLACE "/" "_" group ${folder})
  if(path MATCHES "_test\\.cpp$")
    if(NOT folder MATCHES "^heed/(attention|structures|models|train)/")
      set(group "")
    endif()
  elseif(path MATCHES "^heed/attention/[a-f][^/]*$")
    set(group heed_attention_a_to_f)
  elseif(path MATCHES "^heed/structures/([a-f][a-z]*/|[^/]*$)")
    set(group heed_structures_a_to_f)
  elseif(path MATCHES "^heed/structures/[g-z][a-z]*/")
    set(group heed_structures_g_to_z)
  elseif(path MATCHES "^heed/models/")
    set(group heed_models)
  elseif(path MATCHES "^heed/train/[a-z]+/")
    set(group heed_train_folders)
  elseif(path MATCHES "^apps/cli/([a-z]*_options|command|compare|completion|eval|list|manual|option_text|program)\\.cpp$")
    set(group apps_cli_commands)  # separate from the files that the module takes from the same library
  elseif(NOT path MATCHES "^(heed/(base|data|metrics|kernels/reference/(score|align)/|torch_support|backend|attention|structures|models|train)|apps/cli/torch|apps/cli/ablate|apps/cli/eval_metric|apps/cli/[^/]*$)")
    set(group "")
  endif()
  set(${variable} "${group}" PARENT_SCOPE)
endfunction()
