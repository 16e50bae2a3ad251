# cmake --install, find_package(heed [COMPONENTS kernels text torch]) and pkg-config. heed::kernels and heed::text need no
# torch, heed::heed does. The installed CMake files contain no path of the build folder or of torch, so the prefix is
# relocatable if its folders are relative (cmake/folders.cmake).

include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/heed)
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# heed_install(<component> TARGETS <target>... PKGCONFIG <name>)
function(heed_install component)
  cmake_parse_arguments(ARG "" "PKGCONFIG" "TARGETS" ${ARGN})
  install(TARGETS ${ARG_TARGETS} EXPORT heed_${component} COMPONENT ${component}
          LIBRARY COMPONENT ${component} NAMELINK_COMPONENT ${component} ARCHIVE COMPONENT ${component}
          RUNTIME COMPONENT ${component} FILE_SET HEADERS DESTINATION ${HEED_HEADER_FOLDER} COMPONENT ${component})
  install(EXPORT heed_${component} FILE heed-${component}.cmake NAMESPACE heed:: DESTINATION ${package_folder}
          COMPONENT ${component})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${ARG_PKGCONFIG}.pc.in ${PROJECT_BINARY_DIR}/${ARG_PKGCONFIG}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${ARG_PKGCONFIG}.pc DESTINATION ${pkgconfig_folder} COMPONENT ${component})
endfunction()

# Paths of the .pc files. The prefix is relative to their folder, lib/pkgconfig or lib/<triplet>/pkgconfig, unless that is
# absolute. cmake_path(APPEND) keeps an absolute folder as it is.
if(IS_ABSOLUTE "${pkgconfig_folder}")
  set(HEED_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH up /${pkgconfig_folder} /)
  string(REGEX REPLACE "/$" "" HEED_PC_PREFIX "\${pcfiledir}/${up}")
endif()
foreach(folder INCLUDEDIR LIBDIR)
  set(HEED_PC_${folder} "\${prefix}")
  cmake_path(APPEND HEED_PC_${folder} "${CMAKE_INSTALL_${folder}}")
endforeach()

set(HEED_PC_CUDA "")
if(HEED_CUDA)
  set(HEED_PC_CUDA " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt -ldl -lpthread")
endif()
heed_install(kernels TARGETS heed_kernels PKGCONFIG heed-kernels)
install(FILES ${HEED_GENERATED}/heed/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heed COMPONENT kernels)
if(HEED_TEXT)
  heed_install(text TARGETS heed_text heed_text_whole PKGCONFIG heed-text)
endif()
if(HEED_TORCH)
  cmake_path(GET TORCH_LIBRARY PARENT_PATH HEED_PC_TORCH_LIB)
  heed_install(torch TARGETS heed PKGCONFIG heed)
endif()
if(HEED_CLI)
  install(TARGETS heed_cli RUNTIME COMPONENT program)
  install(TARGETS heed_module heed_internal LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/heed NAMELINK_SKIP COMPONENT program)
  set(pages ${PROJECT_BINARY_DIR}/pages)  # written by the program
  file(MAKE_DIRECTORY ${pages})
  heed_generated_page(${pages}/heed.1 manual)
  heed_generated_page(${pages}/heed.bash completion bash)
  heed_generated_page(${pages}/_heed completion zsh)
  heed_generated_page(${pages}/heed.fish completion fish)
  add_custom_target(heed_pages ALL DEPENDS ${pages}/heed.1 ${pages}/heed.bash ${pages}/_heed ${pages}/heed.fish)
  install(FILES ${pages}/heed.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
  install(FILES ${pages}/heed.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME heed COMPONENT program)
  install(FILES ${pages}/_heed DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
  install(FILES ${pages}/heed.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/heed-config.cmake.in ${PROJECT_BINARY_DIR}/heed-config.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heed-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/heed-config.cmake ${PROJECT_BINARY_DIR}/heed-config-version.cmake
        DESTINATION ${package_folder} COMPONENT kernels)
