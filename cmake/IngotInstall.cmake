# `cmake --install`: four components, which are also the Debian packages.
#   tool         the compiler `ingot`, its manual page and completions
#   runtime      the engine as a shared library
#   development  the engine's headers, the static library, and what find_package(ingot) reads
#   model        the compiler as a library, with its headers: for models that are described in C++; tensors that hold values
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # tests and measurements need not be built for it
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ingot)

if(TARGET ingot)
  install(TARGETS ingot RUNTIME COMPONENT tool)
  # What the tool says about itself.
  if(NOT CMAKE_CROSSCOMPILING)
    set(documents ${PROJECT_BINARY_DIR}/documents)
    file(MAKE_DIRECTORY ${documents})
    add_custom_command(OUTPUT ${documents}/ingot.1 ${documents}/ingot ${documents}/ingot.fish DEPENDS ingot
                       COMMAND ingot manual > ${documents}/ingot.1
                       COMMAND ingot completion bash > ${documents}/ingot
                       COMMAND ingot completion fish > ${documents}/ingot.fish
                       COMMAND ingot completion zsh > ${documents}/_ingot VERBATIM)
    add_custom_target(ingot_documents ALL DEPENDS ${documents}/ingot.1)
    install(FILES ${documents}/ingot.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool)
    install(FILES ${documents}/ingot DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tool)
    install(FILES ${documents}/ingot.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tool)
    # Debian's zsh looks into one folder for packages, and into another for what is installed beside them.
    install(CODE "
      set(folder site-functions)
      if(CMAKE_INSTALL_PREFIX STREQUAL /usr)
        set(folder vendor-completions)
      endif()
      file(INSTALL ${documents}/_ingot DESTINATION \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${folder})"
      COMPONENT tool)
  endif()
endif()

install(TARGETS ingot_engine_shared EXPORT ingot-targets
        LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS ingot_engine EXPORT ingot-targets
        ARCHIVE COMPONENT development INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY engine/include/ingot DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
# engine.h includes "schema/dtype.h", which a compiler looks for beside it first.
install(FILES schema/dtype.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ingot/schema COMPONENT development)

if(TARGET ingot_signature)
  install(TARGETS ingot_signature EXPORT ingot-targets
          ARCHIVE COMPONENT development INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(FILES engine/signature/include/ingot/signature.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ingot
          COMPONENT development)
  install(FILES schema/signature.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ingot/schema COMPONENT development)
endif()

# For other build systems; the prefix is found from where the file lies.
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${pkgconfig_dir}
           OUTPUT_VARIABLE ingot_prefix_from_pc)
set(ingot_threads_flag "$<$<BOOL:${INGOT_ENGINE_THREADS}>: -pthread>")
configure_file(cmake/ingot-engine.pc.in ${PROJECT_BINARY_DIR}/ingot-engine.pc.in @ONLY)
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/ingot-engine.pc INPUT ${PROJECT_BINARY_DIR}/ingot-engine.pc.in)
install(FILES ${PROJECT_BINARY_DIR}/ingot-engine.pc DESTINATION ${pkgconfig_dir} COMPONENT development)

if(TARGET ingot_model_shared)
  set(model_headers ${CMAKE_INSTALL_INCLUDEDIR}/ingot-model)  # they include "aot/..." and "schema/..."
  install(TARGETS ingot_model_shared ingot_lazy_shared EXPORT ingot-model-targets
          LIBRARY COMPONENT model INCLUDES DESTINATION ${model_headers})
  install(CODE "set(source \"${PROJECT_SOURCE_DIR}\")\nset(destination \"${model_headers}\")" COMPONENT model)
  install(SCRIPT cmake/IngotModelHeaders.cmake COMPONENT model)
  install(EXPORT ingot-model-targets NAMESPACE ingot:: DESTINATION ${package_dir} COMPONENT model)
endif()

install(EXPORT ingot-targets NAMESPACE ingot:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(cmake/ingot-config.cmake.in ${PROJECT_BINARY_DIR}/ingot-config.cmake
                              INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ingot-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ingot-config.cmake ${PROJECT_BINARY_DIR}/ingot-config-version.cmake
              cmake/IngotBundle.cmake
        DESTINATION ${package_dir} COMPONENT development)
