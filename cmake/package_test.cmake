# cmake -D SOURCE=... -D BUILD=... -D COMPONENTS=... -P package_test.cmake: a package that installs, is found, links and runs.

set(prefix ${BUILD}/package/prefix)
file(REMOVE_RECURSE ${BUILD}/package)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${code}:\n${said}")
  endif()
  set(said "${said}" PARENT_SCOPE)
endfunction()

set(flags "")
if(SANITIZE)
  set(flags -DCMAKE_CXX_FLAGS=-fsanitize=${SANITIZE})
  set(ENV{ASAN_OPTIONS} detect_leaks=0)
endif()

foreach(component ${COMPONENTS})  # kernels first: it must do before torch is there
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --component ${component})
  set(build ${BUILD}/package/${component})
  set(without_torch "")
  if(component STREQUAL kernels)
    set(without_torch -DCMAKE_DISABLE_FIND_PACKAGE_Torch=ON)
  endif()
  run(${CMAKE_COMMAND} -S ${SOURCE}/examples/package_${component} -B ${build} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
      "-DCMAKE_PREFIX_PATH=${prefix};${PREFIX_PATH}" -DCMAKE_BUILD_TYPE=Debug ${flags} ${without_torch})
  run(${CMAKE_COMMAND} --build ${build})
  run(${build}/program)
  message(STATUS "${component}: ${said}")
endforeach()

file(GLOB_RECURSE strangers ${prefix}/*_cases.h ${prefix}/testing*.h ${prefix}/*_test.h)
if(strangers)
  message(FATAL_ERROR "headers of tests were installed: ${strangers}")
endif()
