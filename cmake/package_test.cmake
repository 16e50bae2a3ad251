# cmake -D SOURCE=... -D BUILD=... -D COMPONENTS=... -P package_test.cmake: installs the package, moves it, and
# builds and runs a project against it with CMake and with pkg-config. The original prefix no longer exists by then. Does the
# same without moving for absolute folders, and configures a project that contains Heed in a subfolder.
#
# CAN_MOVE=OFF: the build itself has absolute folders, so the first part is left out. CONFIGURED are the arguments of cmake
# with which another build folder finds what this one has found.

cmake_minimum_required(VERSION 3.25)

set(installed ${BUILD}/package/installed)
set(prefix ${BUILD}/package/moved)
file(REMOVE_RECURSE ${BUILD}/package)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${code}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# search_in(<folder>): CMake finds packages there first.
function(search_in folder)
  list(JOIN PREFIX_PATH ":" others)
  set(ENV{CMAKE_PREFIX_PATH} "${folder}:${others}")  # not an argument: a list would be split
endfunction()

if(TORCH_DIR)
  set(ENV{Torch_DIR} ${TORCH_DIR})
endif()

set(flags "")
if(SANITIZE)
  set(flags -fsanitize=${SANITIZE})
  set(ENV{ASAN_OPTIONS} detect_leaks=0)
endif()

# build_with_cmake(<component>): builds and runs examples/package_<component> with find_package.
function(build_with_cmake component)
  set(build ${BUILD}/package/${component}_cmake)
  file(REMOVE_RECURSE ${build})
  set(without_torch "")
  if(NOT component STREQUAL torch)
    set(without_torch -DCMAKE_DISABLE_FIND_PACKAGE_Torch=ON)
  endif()
  run(${CMAKE_COMMAND} -S ${SOURCE}/examples/package_${component} -B ${build} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
      -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS=${flags} ${without_torch})
  run(${CMAKE_COMMAND} --build ${build})
  run(${build}/program)
  message(STATUS "${component}, by CMake: ${output}")
endfunction()

# build_with_pkg_config(<component> <name> <folder of libraries>): builds and runs the same file with the flags of pkg-config.
function(build_with_pkg_config component name libraries)
  set(ENV{PKG_CONFIG_PATH} ${libraries}/pkgconfig)
  run(${PKG_CONFIG} --cflags --libs ${name})
  separate_arguments(said UNIX_COMMAND "${output}")
  set(program ${BUILD}/package/${component}_pkg_config)
  run(${COMPILER} -std=c++20 ${flags} ${SOURCE}/examples/package_${component}/main.cpp -o ${program} ${said}
      -Wl,-rpath,${libraries} ${TORCH_RPATH})
  run(${program})
  message(STATUS "${component}, by pkg-config: ${output}")
endfunction()

# expect_no_path(<folder>... IN <pattern>...): no file of these patterns below the prefix contains a path in a folder,
# outside comments. CMake itself writes the configured folder of the package if that is below /usr/lib.
function(expect_no_path)
  cmake_parse_arguments(ARG "" "" "IN" ${ARGN})
  foreach(pattern ${ARG_IN})
    file(GLOB_RECURSE files ${prefix}/${pattern})
    foreach(file ${files})
      file(READ ${file} text)
      string(REGEX REPLACE "#[^\n]*" "" text "${text}")
      string(REPLACE "${FULL_LIBDIR}/cmake/heed" "" text "${text}")
      foreach(folder ${ARG_UNPARSED_ARGUMENTS})
        # At the start of a path: sources in /heed are not in <prefix>/include/heed/...
        string(REGEX REPLACE "([][+.*()^$?|\\\\])" "\\\\\\1" escaped "${folder}")
        if("${text}" MATCHES "(^|[^A-Za-z0-9_.+}-]|-[IL])${escaped}/")
          message(FATAL_ERROR "${file} names ${folder}")
        endif()
      endforeach()
    endforeach()
  endforeach()
endfunction()

# Installed files may contain only paths of torch, and only for pkg-config and the loader.
function(check_relocatable)
  expect_no_path(${installed} ${BUILD} ${SOURCE} ${TORCH_DIR} IN *.cmake *.pc)
  expect_no_path(${TORCH_PREFIX} IN *.cmake)
endfunction()

# Installs with absolute folders, the libraries outside the prefix, and uses kernels and text from there. The libraries are
# those of this build. The program is only configured: it must find library and module at their absolute paths.
function(check_absolute_folders)
  set(build ${BUILD}/package/absolute_build)
  set(root ${BUILD}/package/absolute)
  set(libraries ${BUILD}/package/absolute_libraries/lib)
  run(${CMAKE_COMMAND} -S ${SOURCE} -B ${build} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} ${CONFIGURED} -DHEED_TESTS=OFF
      -DHEED_BENCH=OFF -DHEED_EXAMPLES=OFF -DCMAKE_INSTALL_PREFIX=${root} -DCMAKE_INSTALL_LIBDIR=${libraries}
      -DCMAKE_INSTALL_BINDIR=${root}/programs -DCMAKE_INSTALL_INCLUDEDIR=${root}/headers)
  file(GLOB archives ${BUILD}/lib/*.a)
  file(COPY ${archives} DESTINATION ${build}/lib)
  file(REMOVE_RECURSE ${prefix})  # nothing may come from there
  search_in(${BUILD}/package/absolute_libraries)
  foreach(component ${COMPONENTS})
    if(component MATCHES "kernels|text")
      run(${CMAKE_COMMAND} --install ${build} --component ${component})
      build_with_cmake(${component})
      build_with_pkg_config(${component} heed-${component} ${libraries})
    elseif(component STREQUAL program)
      file(READ ${build}/cmake_install.cmake script)
      string(FIND "${script}" "NEW_RPATH \"${libraries}" rpath)
      file(READ ${build}/compile_commands.json commands)
      string(FIND "${commands}" "\"${libraries}/heed/libheed_commands" module)
      if(rpath EQUAL -1 OR module EQUAL -1)
        message(FATAL_ERROR "${build}: got a program that does not look in ${libraries}")
      endif()
    endif()
  endforeach()
  message(STATUS "absolute folders: ${libraries}")
endfunction()

# A project that contains Heed in a subfolder has the same targets, and by default no tests and no program.
function(check_subdirectory)
  set(folder ${BUILD}/package/subdirectory)
  file(WRITE ${folder}/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(subdirectory CXX)
add_subdirectory(${SOURCE} heed)
add_executable(program ${SOURCE}/examples/package_text/main.cpp)
target_link_libraries(program PRIVATE heed::text)
if(TARGET data_test OR TARGET heed_cli)
  message(FATAL_ERROR \"got tests or the program, expected libraries\")
endif()
")
  run(${CMAKE_COMMAND} -S ${folder} -B ${folder}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} ${CONFIGURED}
      -DHEED_TORCH=OFF)
  message(STATUS "subfolder: heed::text")
endfunction()

if(CAN_MOVE)
  set(moved ${COMPONENTS})
else()
  set(moved "")
endif()
search_in(${prefix})
foreach(component ${moved})  # kernels and text first: they must work before torch is installed
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${installed} --component ${component})
  file(REMOVE_RECURSE ${prefix})
  file(COPY ${installed}/ DESTINATION ${prefix})
  file(REMOVE_RECURSE ${installed}.away)
  file(RENAME ${installed} ${installed}.away)
  check_relocatable()
  if(component STREQUAL program)
    run(${prefix}/bin/heed --version)
    run(${prefix}/bin/heed info)  # loads the module and the library
    foreach(page man/man1/heed.1 bash-completion/completions/heed zsh/site-functions/_heed fish/vendor_completions.d/heed.fish)
      file(SIZE ${prefix}/share/${page} size)
      if(size LESS 1000)
        message(FATAL_ERROR "${prefix}/share/${page} has ${size} bytes, expected the output of the program")
      endif()
    endforeach()
    message(STATUS "program: ${output}")
  else()
    build_with_cmake(${component})
    if(component MATCHES "kernels|text")
      build_with_pkg_config(${component} heed-${component} ${prefix}/${LIBDIR})
    else()
      build_with_pkg_config(torch heed ${prefix}/${LIBDIR})
    endif()
  endif()
  file(RENAME ${installed}.away ${installed})
endforeach()

file(GLOB_RECURSE test_headers ${prefix}/*_cases.h ${prefix}/testing*.h ${prefix}/*_test.h)
if(test_headers)
  message(FATAL_ERROR "headers of tests were installed: ${test_headers}")
endif()

if(text IN_LIST COMPONENTS)
  check_subdirectory()
endif()
check_absolute_folders()
