# Tests of the engine, on bundles of kernels written by hand.
find_package(nlohmann_json REQUIRED)
add_library(engine_fixture STATIC engine_fixture.cc engine_kernels.c)
target_include_directories(engine_fixture PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(engine_fixture PUBLIC ingot_bundle ingot::engine GTest::gtest PRIVATE ingot_options)
set_source_files_properties(engine_kernels.c PROPERTIES COMPILE_OPTIONS
  "-O1;-ffreestanding;-fno-tree-vectorize;-fno-tree-loop-distribute-patterns;-fno-stack-protector;-fno-sanitize=all;-fcf-protection=none")

ingot_test(engine_run_test engine_fixture)
ingot_test(engine_state_test engine_fixture nlohmann_json::nlohmann_json)
ingot_test(engine_wrapper_test engine_fixture)
ingot_test(engine_reject_test engine_fixture)
