// The goldens' models written in C++ train as they do in JAX: differentiation, optimizers and the compiler, checked by
// another framework.
#include "tests/support/jax_models.h"

#include "tests/support/compiled_program.h"
#include "tests/support/jax_reference.h"

namespace ingot {
namespace {

struct ModelCase {
  const char* name;
  GoldenModel (*make)();
};

NamedTensors start_state(GoldenModel& model, const JaxReference& reference) {
  NamedTensors state;
  for (const Spec& variable : model.program().state()) {
    state[variable.name] = RefTensor(variable.type);
    if (is_float(variable.type.dtype)) {
      state[variable.name] = reference.start(GoldenModel::golden_name(variable.name));
    }
  }
  return state;
}

// Trains `steps` steps and judges the loss of each; gives the last state.
NamedTensors train(GoldenModel& model, const JaxReference& reference, Executor& executor, int steps) {
  NamedTensors state = start_state(model, reference);
  for (int step = 0; step < steps; ++step) {
    const NamedTensors batch{{"x", reference.batch("x", step)}, {"y", reference.batch("y", step)}};
    const NamedTensors outputs = executor.run(model.program().module(), "train_step", state, batch);
    reference.expect_output("loss", step, outputs.at("loss").f[0]);
  }
  return state;
}

class JaxModels : public testing::TestWithParam<ModelCase> {};

TEST_P(JaxModels, CompiledTrainsAsJaxDoes) {
  const JaxReference reference(GetParam().name);
  if (!reference.exists()) GTEST_SKIP() << "no goldens of " << GetParam().name;
  GoldenModel model = GetParam().make();
  CompiledExecutor executor;
  const NamedTensors last = train(model, reference, executor, reference.steps());
  NamedTensors golden;  // by the goldens' names
  for (const auto& [name, tensor] : last) golden[GoldenModel::golden_name(name)] = tensor;
  reference.expect_final_state([&](const std::string& name) { return golden.at(name); });
}

INSTANTIATE_TEST_SUITE_P(All, JaxModels,
                         testing::Values(ModelCase{"mlp_adamw", GoldenModel::mlp_adamw},
                                         ModelCase{"cnn_adamw", GoldenModel::cnn_adamw}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(EvaluatedJaxModels, MlpStartsWithTheGoldensLosses) {
  const JaxReference reference("mlp_adamw");
  if (!reference.exists()) GTEST_SKIP() << "no goldens of mlp_adamw";
  GoldenModel model = GoldenModel::mlp_adamw();
  ReferenceExecutor executor;
  train(model, reference, executor, 1);
}

}  // namespace
}  // namespace ingot
