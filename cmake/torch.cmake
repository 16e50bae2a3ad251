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

# The whole house follows the ABI of torch's std::string (-D_GLIBCXX_USE_CXX11_ABI), kernels too.
if(TORCH_CXX_FLAGS MATCHES "_GLIBCXX_USE_CXX11_ABI=0")
  separate_arguments(flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${flags}>")
endif()
message(STATUS "libtorch: ${Torch_VERSION} ${TORCH_LIBRARY}")
