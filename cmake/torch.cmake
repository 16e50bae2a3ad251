# libtorch: the distribution's, or the PyTorch 2.x that CMAKE_PREFIX_PATH or Torch_DIR points at.

find_package(Torch REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)

# The whole house follows the ABI of torch's std::string (-D_GLIBCXX_USE_CXX11_ABI), kernels too.
if(TORCH_CXX_FLAGS MATCHES "_GLIBCXX_USE_CXX11_ABI=0")
  separate_arguments(flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${flags}>")
endif()
message(STATUS "libtorch: ${Torch_VERSION} ${TORCH_LIBRARY}")
