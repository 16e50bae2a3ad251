# RPATH: where programs find shared libraries.
#
# Debian's libtorch loads the libblas.so.3 that the system's alternatives select. That is often the pthread build of
# OpenBLAS, which made an RNN step ten times slower under torch's own threads. Our programs search the folder of the OpenMP
# build first; the selection of the system is not changed. This needs DT_RPATH: DT_RUNPATH is not searched for the
# dependencies of torch's libraries.
set(blas_folder "")
if(HEED_OPENMP_BLAS AND Torch_VERSION VERSION_LESS 2)
  find_path(HEED_BLAS_FOLDER libblas.so.3 PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp NO_DEFAULT_PATH)
  if(NOT HEED_BLAS_FOLDER)
    message(FATAL_ERROR "HEED_OPENMP_BLAS needs the OpenMP build of OpenBLAS, which was not found (Debian: libopenblas0-openmp). "
                        "Install it, name its folder with -DHEED_BLAS_FOLDER=..., or configure with -DHEED_OPENMP_BLAS=OFF.")
  endif()
  set(blas_folder ${HEED_BLAS_FOLDER})
  list(PREPEND CMAKE_BUILD_RPATH ${blas_folder})
  add_link_options(-Wl,--disable-new-dtags)
endif()

# An installed program finds the library as cmake/folders.cmake says, relative to itself if possible, and torch and BLAS at
# their absolute paths. CMAKE_INSTALL_RPATH and CMAKE_SKIP_INSTALL_RPATH of the user take precedence; packagers set HEED_INSTALL_RPATH=OFF.
if(HEED_INSTALL_RPATH AND NOT DEFINED CMAKE_INSTALL_RPATH)
  set(CMAKE_INSTALL_RPATH ${HEED_LIBRARY_RPATH} ${blas_folder})
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
  set(HEED_MODULE_RPATH $ORIGIN ${blas_folder})  # next to the internal library
endif()
