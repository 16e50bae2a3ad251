# Test programs, one per layer. A long one is sharded into several ctest tests, so that all processors are busy.

set(HEED_SHARDS_attention 4)
set(HEED_SHARDS_structures 4)
set(HEED_SHARDS_kernels 2)
set(HEED_SHARDS_cli 2)
set(HEED_SHARDS_train 2)

# Seconds that a test takes, roughly: ctest starts the longest first where it has not run them before.
set(HEED_COST_attention 100)
set(HEED_COST_structures 60)
set(HEED_COST_train 60)
set(HEED_COST_cli 70)

# heed_test_program(<layer> LIBRARY <library> FILES <file>... [LINK <target>...]): the program <layer>_test.
function(heed_test_program layer)
  cmake_parse_arguments(ARG "" "LIBRARY" "FILES;LINK" ${ARGN})
  set(program ${layer}_test)
  add_executable(${program} ${ARG_FILES})
  set(linked ${ARG_LIBRARY})
  if(ARG_LIBRARY STREQUAL heed_text)  # as users link it
    set(linked heed::text)
  elseif(ARG_LIBRARY STREQUAL heed_objects)
    set(linked heed_internal)
  endif()
  target_link_libraries(${program} PRIVATE ${linked} GTest::gtest_main GTest::gtest ${ARG_LINK})
  heed_unity(${program} ${ARG_FILES})
  set(environment "")
  if(ARG_LIBRARY STREQUAL heed_objects)
    heed_torch_files(${program})
    set(environment GOMP_SPINCOUNT=10000)  # as the program does: tests share the processors
    if(layer MATCHES "attention|structures")
      list(APPEND environment OMP_NUM_THREADS=1)  # small tensors; tests of threads set their number themselves
    endif()
    if(HEED_SANITIZE)
      list(APPEND environment ASAN_OPTIONS=detect_leaks=0)  # torch is not instrumented
    endif()
  endif()

  set(shards 1)
  if(DEFINED HEED_SHARDS_${layer})
    set(shards ${HEED_SHARDS_${layer}})
  endif()
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    set(name ${layer})
    if(shards GREATER 1)
      set(name ${layer}.${shard})
    endif()
    add_test(NAME ${name} COMMAND ${program} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES LABELS ${layer} TIMEOUT 600
                         COST "${HEED_COST_${layer}}" ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard};${environment}")
  endforeach()
endfunction()
