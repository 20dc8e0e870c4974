# Traced programs, run by name.
ingot_test_library(program_runner program_runner.cc LINK ingot_optim)

# ... and the same compiled, run by the engine.
ingot_test_library(compiled_program compiled_program.cc LINK program_runner ingot_pipeline ingot::engine)

# ... and functions of a few ops, beside their evaluation.
ingot_test_library(compiled_case compiled_case.cc LINK compiled_program)

ingot_test(control_flow_test compiled_program random_graph)
ingot_test(expand_test compiled_program)
ingot_test(gradients_test program_runner random_graph)
ingot_test(narrow_float_test compiled_case)
ingot_test(quantize_test compiled_case)
ingot_test(random_bits_test compiled_program)
ingot_test(scan_test compiled_program random_graph)
ingot_test(split_test compiled_program)
ingot_test(trace_test program_runner random_graph)
ingot_test(traps_test compiled_program random_graph ingot_frontend_stablehlo)

# The same programs against other frameworks.
ingot_test_library(jax_models jax_models.cc LINK program_runner)
ingot_test_library(torch_modules torch_modules.cc LINK program_runner nlohmann_json::nlohmann_json)
ingot_test(jax_models_test jax_models compiled_program nlohmann_json::nlohmann_json)
ingot_test(torch_goldens_test torch_modules compiled_program)
