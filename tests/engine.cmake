# Tests of the engine, on bundles of kernels written by hand.
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
ingot_test_library(engine_fixture engine_fixture.cc engine_flow.cc engine_kernels.c LINK ingot_bundle ingot::engine)
set_source_files_properties(engine_kernels.c PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS
  "-O1;-ffreestanding;-fno-tree-vectorize;$<$<C_COMPILER_ID:GNU>:-fno-tree-loop-distribute-patterns>;-fno-stack-protector;-fno-sanitize=all;-fcf-protection=none")

ingot_test(bundle_test engine_fixture)
ingot_test(compat_test ingot::engine)
ingot_test(engine_flow_test engine_fixture)
ingot_test(engine_flow_random_test engine_fixture)
ingot_test(engine_flow_reject_test engine_fixture)
ingot_test(engine_misuse_test engine_fixture)
ingot_test(engine_quiet_test engine_fixture)
ingot_test(engine_reject_test engine_fixture)
ingot_test(engine_run_test engine_fixture)
ingot_test(engine_size_test engine_fixture)
ingot_test(engine_state_test engine_fixture nlohmann_json::nlohmann_json)
ingot_test(engine_wrapper_test engine_fixture)

# engine_size_test looks at the engine as the tiny preset builds it, and at a C program that links nothing else.
get_target_property(sources ingot_engine SOURCES)
get_target_property(options ingot_engine COMPILE_OPTIONS)
add_library(engine_tiny STATIC ${sources})
target_compile_options(engine_tiny PRIVATE ${options} -Os -g0)
target_compile_definitions(engine_tiny PRIVATE NDEBUG $<TARGET_PROPERTY:ingot_engine,COMPILE_DEFINITIONS>)
target_include_directories(engine_tiny PUBLIC ${PROJECT_SOURCE_DIR}/engine/include)
target_link_libraries(engine_tiny PUBLIC ingot_schema PRIVATE ingot_schema_flatbuffers ZLIB::ZLIB Threads::Threads)

add_executable(engine_embed engine_embed.c)
set_target_properties(engine_embed PROPERTIES LINKER_LANGUAGE C C_STANDARD 99)
target_compile_options(engine_embed PRIVATE -Wall -Wextra -Werror -pedantic)
target_link_libraries(engine_embed PRIVATE engine_tiny)
target_link_options(engine_embed PRIVATE -Wl,--gc-sections -Wl,--as-needed)

add_dependencies(engine_size_test engine_embed)
target_compile_definitions(engine_size_test PRIVATE
  INGOT_TINY_ENGINE="$<TARGET_FILE:engine_tiny>" INGOT_EMBED_PROGRAM="$<TARGET_FILE:engine_embed>")
