# cmake --install, and find_package(heed [COMPONENTS kernels torch]): heed::kernels never asks for torch, heed::heed does.

include(CMakePackageConfigHelpers)
set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/heed)

# heed_install(<component> <target>)
function(heed_install component target)
  install(TARGETS ${target} EXPORT heed_${component} COMPONENT ${component}
          LIBRARY COMPONENT ${component} ARCHIVE COMPONENT ${component} RUNTIME COMPONENT ${component}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT ${component})
  install(EXPORT heed_${component} FILE heed-${component}.cmake NAMESPACE heed:: DESTINATION ${folder} COMPONENT ${component})
endfunction()

heed_install(kernels heed_kernels)
install(FILES ${HEED_GENERATED}/heed/base/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heed/base COMPONENT kernels)
if(HEED_TORCH)
  heed_install(torch heed)
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/heed-config.cmake.in ${PROJECT_BINARY_DIR}/heed-config.cmake
                              INSTALL_DESTINATION ${folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heed-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/heed-config.cmake ${PROJECT_BINARY_DIR}/heed-config-version.cmake
        DESTINATION ${folder} COMPONENT kernels)
