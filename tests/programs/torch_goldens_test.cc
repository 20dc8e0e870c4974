// Modules, losses and optimizers against what PyTorch computes for them, case by case: outputs, gradients of inputs and
// parameters, running statistics, trajectories. The cases are a folder of JSON lists and safetensors files: the shared
// goldens, or the folder that INGOT_TORCH_GOLDENS names. Classes that do not exist here are listed, not failed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "aot/base/error.h"
#include "aot/base/safetensors.h"
#include "aot/graph/graph.h"
#include "tests/support/compiled_program.h"
#include "tests/support/torch_modules.h"

namespace ingot {
namespace {

// One way to run every case.
struct Way {
  const char* name;
  std::unique_ptr<Executor> (*make)();
  DType dtype;      // that stands for f64
  double relative;  // distance, of the largest element of the expected tensor
  double absolute;
};

const Way kWays[] = {
    {"Evaluated", [] { return std::unique_ptr<Executor>(new ReferenceExecutor); }, f64, 1e-9, 1e-12},
    {"CompiledF64", [] { return std::unique_ptr<Executor>(new CompiledExecutor(1)); }, f64, 1e-9, 1e-12},
    {"CompiledF32", [] { return std::unique_ptr<Executor>(new CompiledExecutor(1)); }, f32, 2e-5, 2e-6},
};

std::filesystem::path torch_goldens() {
  const char* folder = std::getenv("INGOT_TORCH_GOLDENS");
  return folder ? folder : std::filesystem::path(INGOT_SHARED_DIR) / "goldens/torch";
}

// One group of cases: modules, losses, optimizers.
class Group {
 public:
  explicit Group(const std::string& name)
      : cases_(Kwargs::parse(std::ifstream(torch_goldens() / (name + ".json")))),
        data_(SafeTensors::read((torch_goldens() / (name + ".safetensors")).string())) {}

  const Kwargs& cases() const { return cases_; }
  bool has(const std::string& key) const { return data_.find(key) != nullptr; }
  const std::map<std::string, SafeTensor>& tensors() const { return data_.tensors(); }

  RefTensor at(const std::string& key) const {
    const SafeTensor* stored = data_.find(key);
    EXPECT_NE(stored, nullptr) << key;
    RefTensor tensor({stored->dtype == "F64" ? DType::kF64 : DType::kI64, stored->shape});
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      if (tensor.is_float()) {
        tensor.f[i] = load_float(tensor.type.dtype, stored->data.data() + 8 * i);
      } else {
        tensor.i[i] = load_int(tensor.type.dtype, stored->data.data() + 8 * i);
      }
    }
    return tensor;
  }

 private:
  Kwargs cases_;
  SafeTensors data_;
};

// Counts, and names what is missing.
struct Tally {
  int passed = 0;
  std::map<std::string, int> missing;

  void print(const char* group) const {
    std::cout << group << ": " << passed << " cases agree; missing:";
    for (const auto& [name, count] : missing)
      std::cout << " " << name << (count > 1 ? "x" + std::to_string(count) : "");
    std::cout << (missing.empty() ? " none" : "") << std::endl;
  }
};

class TorchGoldens : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(torch_goldens() / "modules.json")) GTEST_SKIP() << "no goldens at " << torch_goldens();
  }

  void expect_close(const RefTensor& actual, const RefTensor& expected, const std::string& what);
  void check_function(const Group& group, const std::string& name, const Kwargs& info,
                      const std::vector<Tensor>& parameters, const std::vector<Tensor>& buffers,
                      const LossFunction& function);

  // Runs a program in the way of the test: in its dtype, by its executor.
  class Runner {
   public:
    Runner(const Way& way, Program& program)
        : way_(way),
          module_(way.dtype == DType::kF64 ? copy_module(program.module()) : in_f32(program.module())),
          executor_(way.make()) {}

    NamedTensors run(const std::string& entry, NamedTensors& state, NamedTensors inputs) {
      convert(state);
      convert(inputs);
      return executor_->run(*module_, entry, state, inputs);
    }

   private:
    void convert(NamedTensors& tensors) const {
      for (auto& [name, tensor] : tensors) {
        if (tensor.type.dtype == DType::kF64) tensor.type.dtype = way_.dtype;
      }
    }

    const Way& way_;
    std::unique_ptr<Module> module_;
    std::unique_ptr<Executor> executor_;
  };

  Tally tally;
};

void TorchGoldens::expect_close(const RefTensor& actual, const RefTensor& expected, const std::string& what) {
  ASSERT_EQ(actual.type.shape, expected.type.shape) << what;
  EXPECT_EQ(actual.type.dtype, expected.is_float() ? GetParam().dtype : expected.type.dtype) << what;
  EXPECT_EQ(actual.i, expected.i) << what;
  double largest = 0, furthest = 0;
  for (size_t k = 0; k < expected.f.size(); ++k) {
    largest = std::max(largest, std::abs(expected.f[k]));
    const double distance = std::abs(actual.f[k] - expected.f[k]);
    if (!(distance <= furthest)) furthest = distance;  // NaN counts
  }
  EXPECT_LE(furthest, GetParam().relative * largest + GetParam().absolute) << what;
}

// Traces f(inputs) with its gradients, runs it, and compares everything that the goldens have for the case.
void TorchGoldens::check_function(const Group& group, const std::string& name, const Kwargs& info,
                                  const std::vector<Tensor>& parameters, const std::vector<Tensor>& buffers,
                                  const LossFunction& function) {
  SCOPED_TRACE(name);
  const auto input_count = info.at("inputs").get<size_t>();
  NamedTensors inputs, state;
  for (size_t i = 0; i < input_count; ++i) {
    inputs["arg" + std::to_string(i)] = group.at(name + "/input." + std::to_string(i));
  }
  const std::string last = "arg" + std::to_string(input_count);
  inputs[last] = group.at(name + "/grad_output");
  for (const Tensor& p : parameters) state[p.name()] = group.at(name + "/param." + p.name());
  for (const Tensor& b : buffers) state[b.name()] = group.at(name + "/buffer." + b.name());

  const auto grads = info.at("grads").get<std::vector<std::string>>();
  const auto body = [&](std::span<const Tensor> arguments) {
    std::vector<Tensor> leaves(arguments.begin(), arguments.end() - 1);
    for (size_t i = 0; i < leaves.size(); ++i) {
      const bool is_leaf = std::find(grads.begin(), grads.end(), "input." + std::to_string(i)) != grads.end();
      if (is_leaf) leaves[i].requires_grad_();
    }
    const Tensor output = function(leaves);
    Outputs outputs{{"output", output}};
    if (grads.empty()) return outputs;
    output.backward(arguments.back());
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (leaves[i].requires_grad()) outputs.tensors.emplace_back("grad.input." + std::to_string(i), leaves[i].grad());
    }
    for (const Tensor& p : parameters) outputs.tensors.emplace_back("grad.param." + p.name(), p.grad());
    return outputs;
  };
  Program program;
  const auto spec = [&](size_t i) { return Spec{inputs.at("arg" + std::to_string(i)).type, ""}; };
  if (input_count == 1) {
    program.add("f", [&](Tensor a, Tensor b) { return body(std::vector<Tensor>{a, b}); }, spec(0), spec(1));
  } else {
    program.add(
        "f", [&](Tensor a, Tensor b, Tensor c) { return body(std::vector<Tensor>{a, b, c}); }, spec(0), spec(1),
        spec(2));
  }
  const NamedTensors outputs = Runner(GetParam(), program).run("f", state, inputs);
  expect_close(outputs.at("output"), group.at(name + "/output"), "output");
  for (const std::string& grad : grads) {
    ASSERT_TRUE(outputs.contains("grad." + grad)) << grad;
    expect_close(outputs.at("grad." + grad), group.at(name + "/grad." + grad), "grad." + grad);
  }
  for (const Tensor& b : buffers) {
    if (group.has(name + "/after." + b.name()))
      expect_close(state.at(b.name()), group.at(name + "/after." + b.name()), "after " + b.name());
  }
}

TEST_P(TorchGoldens, Modules) {
  const Group group("modules");
  for (const Kwargs& info : group.cases()) {
    const auto class_name = info.at("class").get<std::string>(), name = info.at("name").get<std::string>();
    const auto module = make_torch_module(class_name, info.at("kwargs"));
    if (!module || info.at("inputs") != 1) {
      ++tally.missing[class_name];
      continue;
    }
    module->train(info.at("training").get<bool>());
    try {
      check_function(group, name, info, module->parameters(), module->buffers(),
                     [&](auto in) { return (*module)(in[0]); });
      ++tally.passed;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kLimit) throw;
      ++tally.missing[class_name + info.at("kwargs").dump()];
    }
  }
  tally.print("modules");
}

TEST_P(TorchGoldens, Losses) {
  const Group group("losses");
  for (const Kwargs& info : group.cases()) {
    const auto class_name = info.at("class").get<std::string>();
    const LossFunction loss = make_torch_loss(class_name, info.at("kwargs"));
    if (!loss || info.at("inputs") != 2) {
      ++tally.missing[class_name];
      continue;
    }
    check_function(group, info.at("name").get<std::string>(), info, {}, {}, loss);
    ++tally.passed;
  }
  tally.print("losses");
}

TEST_P(TorchGoldens, Optimizers) {
  const Group group("optimizers");
  for (const Kwargs& info : group.cases()) {
    const auto class_name = info.at("class").get<std::string>(), name = info.at("name").get<std::string>();
    SCOPED_TRACE(name);
    const RefTensor start = group.at(name + "/param"), grads = group.at(name + "/grads"),
                    after = group.at(name + "/params");
    Tensor w = parameter("w", start.type, init::zeros());
    const auto optimizer = make_torch_optimizer(class_name, info.at("kwargs"), {w});
    if (!optimizer) {
      ++tally.missing[class_name];
      continue;
    }
    Program program;
    program.add(
        "step",
        [&](Tensor gradient) {
          w.set_grad(gradient);
          optimizer->step();
        },
        Spec{start.type, "gradient"});
    Runner runner(GetParam(), program);
    NamedTensors state;
    runner.run("init", state, {{"seed", RefTensor({DType::kI64, {}})}});
    state["w"] = start;
    const int64_t size = start.elements();
    for (int64_t step = 0; step < grads.type.shape[0]; ++step) {
      RefTensor gradient(start.type), expected(start.type);
      for (int64_t k = 0; k < size; ++k) {
        gradient.copy_element(k, grads, step * size + k);
        expected.copy_element(k, after, step * size + k);
      }
      runner.run("step", state, {{"gradient", gradient}});
      expect_close(state.at("w"), expected, "step " + std::to_string(step));
    }
    ++tally.passed;
  }
  tally.print("optimizers");
}

INSTANTIATE_TEST_SUITE_P(All, TorchGoldens, testing::ValuesIn(kWays),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ingot
