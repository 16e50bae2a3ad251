# Generates heed/version.h in the build tree. Only version.cpp contains the commit, so that a new commit recompiles one
# small file. Without git, for example in a tarball, the commit is "unknown".

if(CMAKE_SCRIPT_MODE_FILE)  # cmake -D SOURCE=... -D TEMPLATE=... -D TO=... -P version.cmake, at every build
  set(HEED_COMMIT unknown)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --show-toplevel
                  OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  file(REAL_PATH ${SOURCE} source)
  if(NOT failed AND top STREQUAL source)  # not the commit of a project that contains Heed in a subfolder
    execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
                    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      set(HEED_COMMIT ${commit})
    endif()
  endif()
  configure_file(${TEMPLATE} ${TO} @ONLY)  # leaves an equal file untouched
  return()
endif()

set(HEED_GENERATED ${PROJECT_BINARY_DIR}/generated)
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.h.in ${HEED_GENERATED}/heed/version.h @ONLY)

function(heed_version)
  cmake_parse_arguments(ARG "" "INTO" "" ${ARGN})
  set(file ${HEED_GENERATED}/heed/version.cpp)
  add_custom_target(heed_commit BYPRODUCTS ${file} COMMENT ""
                    COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D TEMPLATE=${PROJECT_SOURCE_DIR}/cmake/version.cpp.in
                            -D TO=${file} -P ${PROJECT_SOURCE_DIR}/cmake/version.cmake)
  target_sources(${ARG_INTO} PRIVATE ${file})
  add_dependencies(${ARG_INTO} heed_commit)
endfunction()
