# `cmake --install`: three components, which are also the Debian packages.
#   tool         the compiler `ingot`, its manual page and completions
#   runtime      the engine as a shared library
#   development  the engine's headers, the static library, and what find_package(ingot) reads
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # tests and measurements need not be built for it
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ingot)

if(TARGET ingot)
  install(TARGETS ingot RUNTIME COMPONENT tool)
endif()

install(TARGETS ingot_engine_shared EXPORT ingot-targets
        LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS ingot_engine EXPORT ingot-targets
        ARCHIVE COMPONENT development INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY engine/include/ingot DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
# engine.h includes "schema/dtype.h", which a compiler looks for beside it first.
install(FILES schema/dtype.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ingot/schema COMPONENT development)

install(EXPORT ingot-targets NAMESPACE ingot:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(cmake/ingot-config.cmake.in ${PROJECT_BINARY_DIR}/ingot-config.cmake
                              INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ingot-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ingot-config.cmake ${PROJECT_BINARY_DIR}/ingot-config-version.cmake
              cmake/IngotBundle.cmake
        DESTINATION ${package_dir} COMPONENT development)
