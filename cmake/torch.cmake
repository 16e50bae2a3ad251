# libtorch: the distribution's, or the PyTorch 2.x that CMAKE_PREFIX_PATH or Torch_DIR points at.

# A PyTorch with CUDA enables that language, looks for GPUs with a program that CMake 3.25 cannot build, and sets flags of
# its own for device code. Ours never includes torch, so it is told an architecture and its settings are not kept.
if(NOT DEFINED ENV{TORCH_CUDA_ARCH_LIST})
  set(ENV{TORCH_CUDA_ARCH_LIST} 9.0)
endif()
set(ours "${CMAKE_CUDA_FLAGS}")
set(ours_for "${CMAKE_CUDA_ARCHITECTURES}")
find_package(Torch REQUIRED)
set(CMAKE_CUDA_FLAGS "${ours}")
set(CMAKE_CUDA_ARCHITECTURES "${ours_for}")

# The whole project follows the ABI of torch's std::string (-D_GLIBCXX_USE_CXX11_ABI), kernels too.
if(TORCH_CXX_FLAGS MATCHES "_GLIBCXX_USE_CXX11_ABI=0")
  separate_arguments(flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${flags}>")
endif()
message(STATUS "libtorch: ${Torch_VERSION} ${TORCH_LIBRARY}")

# Joining processes (heed/train/processes_group.cpp) takes headers that torch leaves out. Those of gloo must be what torch
# was built with, so they count only where they lie beside torch's own: libgloo-dev with the distribution's. A PyTorch with
# CUDA has an nccl.h in the folder beside it. Without either a launcher's processes are refused, with this reason.
set(groups ${PROJECT_SOURCE_DIR}/heed/train/processes_group.cpp)
find_path(HEED_GLOO_HEADERS gloo/rendezvous/store.h PATHS ${TORCH_INCLUDE_DIRS} NO_DEFAULT_PATH)
if(HEED_GLOO_HEADERS)
  set_property(SOURCE ${groups} APPEND PROPERTY COMPILE_DEFINITIONS HEED_GLOO)
endif()
if(TARGET torch_cuda AND Torch_VERSION VERSION_GREATER_EQUAL 2)
  find_path(HEED_NCCL_HEADERS nccl.h HINTS ${TORCH_INSTALL_PREFIX}/../nvidia/nccl/include PATHS ${CUDA_TOOLKIT_ROOT_DIR}/include)
  if(HEED_NCCL_HEADERS)
    set_property(SOURCE ${groups} APPEND PROPERTY COMPILE_DEFINITIONS HEED_NCCL)
    set_property(SOURCE ${groups} APPEND PROPERTY INCLUDE_DIRECTORIES ${HEED_NCCL_HEADERS})
  endif()
endif()
