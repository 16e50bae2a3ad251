# Folders of an installation. Each is relative to the prefix, which can then be moved, or absolute, as Nix and Guix pass them:
# an absolute folder stays where it is, whatever CMAKE_INSTALL_PREFIX is; with one, `cmake --install --prefix` is not supported.

include(GNUInstallDirs)

set(HEED_PREFIX_CAN_MOVE ON)
foreach(folder BINDIR LIBDIR INCLUDEDIR DATADIR MANDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
    set(HEED_PREFIX_CAN_MOVE OFF)
  endif()
endforeach()

# The folder of the libraries, relative to that of the programs, or absolute.
if(IS_ABSOLUTE "${CMAKE_INSTALL_BINDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(HEED_LIBRARY_FOLDER ${CMAKE_INSTALL_FULL_LIBDIR})
  set(HEED_LIBRARY_RPATH ${HEED_LIBRARY_FOLDER})
else()
  file(RELATIVE_PATH HEED_LIBRARY_FOLDER /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  set(HEED_LIBRARY_RPATH $ORIGIN/${HEED_LIBRARY_FOLDER})
endif()

# The folder of the headers for a file set. CMake 3.25 exports an absolute one as <prefix>/<absolute>.
set(HEED_HEADER_FOLDER ${CMAKE_INSTALL_INCLUDEDIR})
if(IS_ABSOLUTE "${HEED_HEADER_FOLDER}")
  file(RELATIVE_PATH HEED_HEADER_FOLDER ${CMAKE_INSTALL_PREFIX} ${HEED_HEADER_FOLDER})
endif()
