# Settings of all targets of Heed.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)  # editing a part relinks the library, not every program

# heed_compile_options(<option>...): for the compiler of C++ files, and for the host part of CUDA files, where nvcc's own
# code does not stand -Wpedantic and -Wconversion.
function(heed_compile_options)
  foreach(option ${ARGN})
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:${option}>)
    if(HEED_CUDA AND NOT option MATCHES "-W(pedantic|conversion|shadow|no-restrict|no-sign-conversion)")
      add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${option}>)
    endif()
  endforeach()
endfunction()

# PIC, not PIE, for programs too: a precompiled header requires the same flags.
heed_compile_options(-fPIC)

heed_compile_options(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  heed_compile_options(-Wno-restrict)  # g++ 12 warns wrongly about std::string + (GCC bug 105651)
elseif(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  heed_compile_options(-Wno-sign-conversion)  # g++'s -Wconversion leaves it out of C++
endif()
if(HEED_WERROR)
  heed_compile_options(-Werror)
endif()

if(HEED_SANITIZE)
  heed_compile_options(-fsanitize=${HEED_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HEED_SANITIZE})
endif()
