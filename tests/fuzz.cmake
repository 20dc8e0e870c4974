# Coverage-guided fuzzers, by the preset of this name: see the files. Not part of `all`: only what they link is built.
if(NOT INGOT_FUZZ)
  return()
endif()

# Of the pipeline they take the pass table alone: no LLVM is instrumented.
add_executable(fuzz_text EXCLUDE_FROM_ALL fuzz/fuzz_text.cc front_door.cc mutate_text.cc random_tensor.cc
               ${PROJECT_SOURCE_DIR}/aot/pipeline/passes.cc)
target_compile_definitions(fuzz_text PRIVATE INGOT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_link_libraries(fuzz_text PRIVATE ingot_test_options ingot_schedule ingot_frontend_stablehlo GTest::gtest)
target_link_options(fuzz_text PRIVATE -fsanitize=fuzzer)
