// Attention and its gradients as whole programs: what is chained block by block gives what the definition says, the same
// bits for any number of threads, and keeps no scores in the arena.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "aot/graph/text/parse.h"
#include "aot/ops/ops.h"
#include "tests/support/compiled_program.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

// A program of tests/golden/chain_kernels, without what is expected of it.
std::unique_ptr<Module> golden_program(const std::string& name) {
  const std::string path = std::string(INGOT_SOURCE_DIR) + "/tests/golden/chain_kernels/" + name;
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  auto module = parse_module(text.str().substr(0, text.str().find("// ----")), path, all_ops());
  name_ports(*module->functions[0]);
  return module;
}

int64_t arena_bytes(const Module& module, const CompileOptions& options) {
  return static_cast<int64_t>(CompiledProgram(module, options).spec().targets[0].plans[0].arena_bytes);
}

class Attention : public testing::TestWithParam<const char*> {};

TEST_P(Attention, AgreesWithItsDefinition) {
  const auto module = golden_program(GetParam());
  const Function& main = *module->functions[0];
  NamedTensors inputs, state;
  const std::vector<RefTensor> arguments = random_arguments(main, /*seed=*/1);
  for (size_t i = 0; i < arguments.size(); ++i) inputs["arg" + std::to_string(i)] = arguments[i];
  const NamedTensors expected = ReferenceExecutor().run(*module, "main", state, inputs);
  CompiledProgram program(*module);
  const NamedTensors alone = program.run("main", 1, state, inputs);
  for (const auto& [name, tensor] : expected) {
    for (int64_t k = 0; k < tensor.elements(); ++k)
      EXPECT_NEAR(alone.at(name).f[k], tensor.f[k], 2e-5) << name << " " << k;
  }
  for (const uint32_t threads : {2, 3, 8}) {
    const NamedTensors together = program.run("main", threads, state, inputs);
    for (const auto& [name, tensor] : alone) EXPECT_EQ(together.at(name).f, tensor.f) << name << ", " << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Attention,
                         testing::Values("attention.mlir", "attention_and_gradients.mlir", "kept_scores.mlir"));

TEST(AttentionMemory, ScoresAreNotInTheArena) {
  const int64_t scores_bytes = 8 * 16 * 16 * 4;
  const auto module = golden_program("attention_and_gradients.mlir");
  EXPECT_LT(arena_bytes(*module, {}), scores_bytes);
  CompileOptions apart;
  apart.pipeline.skip = {"chain_kernels"};
  EXPECT_GE(arena_bytes(*module, apart), scores_bytes);
}

}  // namespace
}  // namespace ingot
