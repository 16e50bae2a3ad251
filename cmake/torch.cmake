# libtorch: Debian's 1.13, or the PyTorch of CMAKE_PREFIX_PATH or Torch_DIR.

# The CMake files of a PyTorch with CUDA enable that language and detect GPUs with a program that CMake 3.25 cannot build.
# Setting an architecture skips the detection; the settings are not kept (cmake/cuda.cmake has those of the kernels).
if(NOT DEFINED ENV{TORCH_CUDA_ARCH_LIST})
  set(ENV{TORCH_CUDA_ARCH_LIST} 9.0)
endif()
heed_need(Torch OPTION HEED_TORCH DEBIAN libtorch-dev)

if(Torch_VERSION VERSION_LESS 1.13 OR (Torch_VERSION VERSION_GREATER_EQUAL 2 AND Torch_VERSION VERSION_LESS 2.4))
  message(FATAL_ERROR "got PyTorch ${Torch_VERSION} (${Torch_DIR}), expected 1.13 or at least 2.4. Install a newer one and add "
                      "torch.utils.cmake_prefix_path to CMAKE_PREFIX_PATH, or configure with -DHEED_TORCH=OFF.")
endif()
if(Torch_VERSION VERSION_LESS 2 AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  message(FATAL_ERROR "got PyTorch ${Torch_VERSION} and ${CMAKE_CXX_COMPILER_ID}, which cannot compile its headers as C++20. Use g++ or "
                      "PyTorch 2.4 and newer, or configure with -DHEED_TORCH=OFF.")
endif()
message(STATUS "libtorch: ${Torch_VERSION} ${TORCH_LIBRARY}")

if(TORCH_CXX_FLAGS MATCHES "_GLIBCXX_USE_CXX11_ABI=0")
  message(FATAL_ERROR "got a PyTorch with the old std::string ABI (${Torch_DIR}), with which yaml-cpp and GoogleTest of the system do "
                      "not link, expected the C++11 ABI: wheels of PyTorch 2.6 and newer, or libtorch-cxx11-abi.")
endif()
