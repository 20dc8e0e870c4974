# Traced programs, run by name.
add_library(program_runner STATIC program_runner.cc)
target_include_directories(program_runner PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(program_runner PUBLIC ingot_optim PRIVATE ingot_options)

# ... and the same compiled, run by the engine.
add_library(compiled_program STATIC compiled_program.cc)
target_link_libraries(compiled_program PUBLIC program_runner PRIVATE ingot_options ingot_pipeline ingot::engine)

ingot_test(gradients_test program_runner ingot_test_random)
ingot_test(trace_test program_runner ingot_test_random)

# The same programs against other frameworks.
add_library(jax_models STATIC jax_models.cc)
target_link_libraries(jax_models PUBLIC program_runner PRIVATE ingot_options)
add_library(torch_modules STATIC torch_modules.cc)
target_link_libraries(torch_modules PUBLIC program_runner nlohmann_json::nlohmann_json PRIVATE ingot_options)
ingot_test(jax_models_test jax_models compiled_program nlohmann_json::nlohmann_json)
ingot_test(torch_goldens_test torch_modules compiled_program)
