# heed_definitions(INTO <library>): generates definitions.cpp from the names of the files in heed/kernels/reference/score and
# align. A linker takes only those files of a static library that something refers to; this file refers to every definition,
# so users of heed::kernels need no linker flags, and a new definition is one new file.
function(heed_definitions)
  cmake_parse_arguments(ARG "" "INTO" "" ${ARGN})
  set(folder ${PROJECT_SOURCE_DIR}/heed/kernels/reference)
  file(GLOB scores CONFIGURE_DEPENDS ${folder}/score/*.cpp)
  file(GLOB alignments CONFIGURE_DEPENDS ${folder}/align/*.cpp)
  list(FILTER scores EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER alignments EXCLUDE REGEX "_test\\.cpp$")
  list(TRANSFORM scores REPLACE "^.*/(.*)\\.cpp$" "\\1_score")
  list(TRANSFORM alignments REPLACE "^.*/(.*)\\.cpp$" "\\1_alignment")
  list(JOIN scores ", " HEED_SCORE_ENTRIES)
  list(JOIN alignments ", " HEED_ALIGNMENT_ENTRIES)
  set(entries ${scores} ${alignments})
  list(TRANSFORM entries PREPEND "&")
  list(JOIN entries ", " HEED_ALL_ENTRIES)
  set(file ${HEED_GENERATED}/heed/kernels/reference/definitions.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/definitions.cpp.in ${file} @ONLY)  # leaves an equal file untouched
  target_sources(${ARG_INTO} PRIVATE ${file})
endfunction()
