# libtorch: Debian's 1.13, or the PyTorch of CMAKE_PREFIX_PATH or Torch_DIR.

# The CMake files of a PyTorch with CUDA enable that language and detect GPUs with a program that CMake 3.25 cannot build.
# Heed has no device code, so it sets an architecture, which skips the detection, and keeps none of the settings.
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

# Training in several processes needs headers that torch does not install, of the version that torch was built with: those
# of gloo with Debian's libtorch, those of NCCL with a PyTorch with CUDA. A PyTorch without CUDA has neither.
if(TARGET torch_cuda OR Torch_VERSION VERSION_LESS 2)
  set(has_headers ON)
else()
  set(has_headers OFF)
endif()
cmake_dependent_option(HEED_PROCESSES "Train in several processes (gloo or NCCL)" ${has_headers} HEED_TRAIN OFF)
if(NOT HEED_PROCESSES)
  return()
endif()

find_path(HEED_GLOO_HEADERS gloo/rendezvous/store.h PATHS ${TORCH_INCLUDE_DIRS} NO_DEFAULT_PATH)
find_path(HEED_NCCL_HEADERS nccl.h HINTS ${TORCH_INSTALL_PREFIX}/../nvidia/nccl/include PATHS ${CUDA_TOOLKIT_ROOT_DIR}/include
          NO_CMAKE_SYSTEM_PATH)
if(NOT TARGET torch_cuda OR Torch_VERSION VERSION_LESS 2)
  unset(HEED_NCCL_HEADERS CACHE)
endif()
if(NOT HEED_GLOO_HEADERS AND NOT HEED_NCCL_HEADERS)
  message(FATAL_ERROR "HEED_PROCESSES needs the headers of gloo or NCCL, which were not found next to torch (Debian: libgloo-dev). "
                      "Install them, or configure with -DHEED_PROCESSES=OFF.")
endif()
set(groups ${PROJECT_SOURCE_DIR}/heed/train/processes_group.cpp)
if(HEED_GLOO_HEADERS)
  set_property(SOURCE ${groups} APPEND PROPERTY COMPILE_DEFINITIONS HEED_GLOO)
endif()
if(HEED_NCCL_HEADERS)
  set_property(SOURCE ${groups} APPEND PROPERTY COMPILE_DEFINITIONS HEED_NCCL)
  set_property(SOURCE ${groups} APPEND PROPERTY INCLUDE_DIRECTORIES ${HEED_NCCL_HEADERS})
endif()
