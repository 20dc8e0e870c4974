# Debian packages of what IngotInstall.cmake installs, by `./dev package`:
#   ingot                the compiler
#   libingot-engine1     the engine as a shared library; the number is that of the API
#   libingot-engine-dev  its headers, the static library and the CMake package
#   libingot-model-dev   the compiler as a library
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The ingot authors <ingot@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_COMPONENTS_ALL tool runtime development model)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/aot ${PROJECT_BINARY_DIR}/engine)
get_target_property(engine_version ingot_engine_shared SOVERSION)
set(engine_package libingot-engine${engine_version})

set(CPACK_DEBIAN_TOOL_PACKAGE_NAME ingot)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION devel)
set(CPACK_COMPONENT_TOOL_DESCRIPTION "compiler for machine learning that trains as well as infers
 Turns whole training steps and inference functions into bundles: machine
 code with an exact memory plan, which the ingot engine runs.")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${engine_package})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/triggers)
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "engine that runs ingot's bundles
 Loads, verifies, runs and saves bundles, in memory that the program gives it.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libingot-engine-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${engine_package} (= ${PROJECT_VERSION}), zlib1g-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "ingot, libsodium-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "engine that runs ingot's bundles: for programs that embed it
 Headers for C and C++, a static library, and a CMake package with
 ingot_add_bundle.")

set(CPACK_DEBIAN_MODEL_PACKAGE_NAME libingot-model-dev)
set(CPACK_DEBIAN_MODEL_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_MODEL_PACKAGE_DEPENDS "libingot-engine-dev (= ${PROJECT_VERSION}), ingot (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_MODEL_DESCRIPTION "compiler for machine learning that trains as well as infers: library
 For programs that describe models in C++ and compile them to bundles:
 tensors, modules and optimizers, with their headers. Or for those whose
 tensors hold values, and are compiled as they run.")
include(CPack)
