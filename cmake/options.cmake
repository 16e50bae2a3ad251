# Options that need another one.

# heed_option(<option> <help> DEFAULT <value> NEEDS <option>): is OFF without the option that it needs. A default becomes OFF
# without a message; an ON of the user is an error. HEED_DEFAULT_OF_<option> in the cache is the default that this function
# stored: a value without it, another value, or one from the command line is the user's.
function(heed_option option help)
  cmake_parse_arguments(ARG "" "DEFAULT;NEEDS" "" ${ARGN})
  set(stored HEED_DEFAULT_OF_${option})
  get_property(origin CACHE ${option} PROPERTY HELPSTRING)
  if(DEFINED ${option} AND (NOT DEFINED ${stored} OR NOT "${${option}}" STREQUAL "${${stored}}"
                            OR origin MATCHES "specified on the command line"))
    unset(${stored} CACHE)
    if(DEFINED CACHE{${option}})
      set(${option} "$CACHE{${option}}" CACHE BOOL "${help}" FORCE)
    endif()
    if(${option} AND NOT ${ARG_NEEDS})
      heed_root_of(root ${ARG_NEEDS})
      message(FATAL_ERROR "got ${option}=ON with ${root}=OFF, expected both ON, because ${option} needs ${root}. Configure with "
                          "-D${root}=ON, or with -D${option}=OFF.")
    endif()
  elseif(${ARG_NEEDS})
    set(${option} ${ARG_DEFAULT} CACHE BOOL "${help}" FORCE)
    set(${stored} ${ARG_DEFAULT} CACHE INTERNAL "")
  else()
    unset(${option} CACHE)
    unset(${stored} CACHE)
    set(${option} OFF PARENT_SCOPE)
    heed_root_of(root ${ARG_NEEDS})
    set(HEED_ROOT_OF_${option} ${root} PARENT_SCOPE)
  endif()
endfunction()

# heed_root_of(<variable> <option>): the option because of which <option> is OFF, possibly itself.
function(heed_root_of variable option)
  if(DEFINED HEED_ROOT_OF_${option})
    set(${variable} ${HEED_ROOT_OF_${option}} PARENT_SCOPE)
  else()
    set(${variable} ${option} PARENT_SCOPE)
  endif()
endfunction()
