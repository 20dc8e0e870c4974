# Traced programs, run by name.
add_library(program_runner STATIC program_runner.cc)
target_include_directories(program_runner PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(program_runner PUBLIC ingot_optim PRIVATE ingot_options)

ingot_test(gradients_test program_runner)
ingot_test(trace_test program_runner)
