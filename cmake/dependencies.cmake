# Finds all external packages. A package that an option needs is required: the error for a missing one names the option to
# switch off.

# heed_need(<package> OPTION <option> DEBIAN <Debian packages>)
macro(heed_need package)
  cmake_parse_arguments(NEED "" "OPTION;DEBIAN" "" ${ARGN})
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${NEED_OPTION} needs ${package}, which was not found (Debian: ${NEED_DEBIAN}). Install it, add its "
                        "prefix to CMAKE_PREFIX_PATH, or configure with -D${NEED_OPTION}=OFF.")
  endif()
endmacro()

# heed_need_program(<variable> <program> OPTION <option>): the Debian package has the program's name.
macro(heed_need_program variable program)
  cmake_parse_arguments(NEED "" "OPTION" "" ${ARGN})
  find_program(${variable} ${program})
  if(NOT ${variable})
    message(FATAL_ERROR "${NEED_OPTION} needs the program ${program}, which was not found (Debian: ${program}). Install it, or "
                        "configure with -D${NEED_OPTION}=OFF.")
  endif()
endmacro()

# The build runs programs that it has built: heed_catalogue, and heed for its manual page and completions.
if(HEED_CLI AND CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(FATAL_ERROR "got a cross build without an emulator, expected one, because HEED_CLI runs programs during the build. "
                      "Configure with -DCMAKE_CROSSCOMPILING_EMULATOR=<program>, for example qemu-aarch64, or with -DHEED_CLI=OFF.")
endif()

if(HEED_TORCH)
  include(cmake/torch.cmake)
endif()
if(HEED_CUDA)
  heed_cuda_settings()
endif()
include(cmake/processes.cmake)
if(HEED_TEXT)
  heed_need(nlohmann_json OPTION HEED_TEXT DEBIAN nlohmann-json3-dev)
  heed_need(yaml-cpp OPTION HEED_TEXT DEBIAN libyaml-cpp-dev)
  heed_need(ZLIB OPTION HEED_TEXT DEBIAN zlib1g-dev)
  if(NOT TARGET yaml-cpp::yaml-cpp)  # before yaml-cpp 0.8
    add_library(yaml-cpp::yaml-cpp INTERFACE IMPORTED)
    target_link_libraries(yaml-cpp::yaml-cpp INTERFACE yaml-cpp)
  endif()
endif()
if(HEED_CLI)
  heed_need(CLI11 OPTION HEED_CLI DEBIAN libcli11-dev)
endif()
if(HEED_PNG)
  heed_need(PNG OPTION HEED_PNG DEBIAN libpng-dev)
  heed_need(Freetype OPTION HEED_PNG DEBIAN libfreetype-dev)
endif()
if(HEED_TESTS)
  heed_need(GTest OPTION HEED_TESTS DEBIAN libgtest-dev)
  heed_need_program(HEED_PYTHON python3 OPTION HEED_TESTS)
  heed_need_program(HEED_PKG_CONFIG pkg-config OPTION HEED_TESTS)
endif()
