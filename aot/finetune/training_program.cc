#include "aot/finetune/training_program.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "aot/base/error.h"
#include "aot/base/join.h"
#include "aot/finetune/training_loss.h"
#include "aot/optim/optim.h"

namespace ingot {
namespace {

constexpr double kDefaultLr = 1e-3;

// --- optimizers ---

template <typename OptionsOf>
OptionsOf with_decay(const TrainingOptions& given) {
  OptionsOf options;
  if (given.weight_decay) options.weight_decay = *given.weight_decay;
  return options;
}

template <typename OptionsOf>
OptionsOf with_momentum(const TrainingOptions& given) {
  OptionsOf options = with_decay<OptionsOf>(given);
  if (given.momentum) options.momentum = *given.momentum;
  return options;
}

using MadeOptimizer = std::unique_ptr<optim::Optimizer>;

struct OptimizerRow {
  const char* name;
  bool has_momentum;
  double lr;  // PyTorch's default
  MadeOptimizer (*make)(std::vector<Tensor> parameters, const TrainingOptions& options);
};

template <typename OptimizerOf, auto kOptions>
MadeOptimizer make_optimizer(std::vector<Tensor> parameters, const TrainingOptions& options) {
  return std::make_unique<OptimizerOf>(std::move(parameters), kOptions(options));
}

constexpr OptimizerRow kOptimizers[] = {
    {"sgd", true, kDefaultLr, make_optimizer<optim::SGD, with_momentum<optim::SGDOptions>>},
    {"adam", false, kDefaultLr, make_optimizer<optim::Adam, with_decay<optim::AdamOptions>>},
    {"adamw", false, kDefaultLr, make_optimizer<optim::AdamW, with_decay<optim::AdamWOptions>>},
    {"rmsprop", true, 1e-2, make_optimizer<optim::RMSprop, with_momentum<optim::RMSpropOptions>>},
    {"adagrad", false, 1e-2, make_optimizer<optim::Adagrad, with_decay<optim::AdagradOptions>>},
};

const OptimizerRow& find_optimizer(const TrainingOptions& options) {
  const auto* const found = std::ranges::find(kOptimizers, options.optimizer, &OptimizerRow::name);
  if (found == std::end(kOptimizers)) {
    throw_error(nullptr, fmt::format("there is no optimizer '{}'; there are {}", options.optimizer,
                                     join(optimizer_names(), ", ")));
  }
  if (options.momentum && !found->has_momentum) {
    throw_error(nullptr, fmt::format("{} has no momentum; sgd and rmsprop have", found->name));
  }
  return *found;
}

// --- weights ---

bool matches(const std::string& pattern, const Tensor& weight) {
  return fnmatch(pattern.c_str(), weight.name().c_str(), 0) == 0;
}

std::string names_of(const std::vector<Tensor>& weights) {
  constexpr size_t kMost = 20;
  std::vector<std::string> names;
  for (const Tensor& weight : weights) names.push_back(weight.name());
  if (names.size() > kMost) {
    names.resize(kMost);
    names.emplace_back("...");
  }
  return join(names, ", ");
}

// Those that a pattern names; the others require no gradient from now on.
std::vector<Tensor> choose_trainable(const ImportedModel& model, const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    const bool is_used = std::ranges::any_of(
        model.weights(), [&](const Tensor& weight) { return is_float(weight.dtype()) && matches(pattern, weight); });
    if (is_used) continue;
    throw_error(nullptr,
                fmt::format("no weight of floats is called '{}'; there are {}", pattern, names_of(model.weights())));
  }
  std::vector<Tensor> chosen;
  for (Tensor weight : model.weights()) {
    const bool is_chosen = is_float(weight.dtype()) && std::ranges::any_of(patterns, [&](const std::string& pattern) {
                             return matches(pattern, weight);
                           });
    weight.requires_grad_(is_chosen);
    if (is_chosen) chosen.push_back(weight);
  }
  return chosen;
}

// What the optimizer updates: weights and, of those that stay, adapters.
std::vector<Tensor> choose_parameters(const ImportedModel& model, const Lora& lora, const TrainingOptions& options) {
  const bool are_all = options.trainable.empty() && options.lora.empty();
  std::vector<Tensor> chosen = choose_trainable(model, are_all ? std::vector<std::string>{"*"} : options.trainable);
  for (const Tensor& weight : chosen) {
    if (!lora.adapts(weight.name())) continue;
    throw_error(nullptr,
                fmt::format("'{}' is a weight to train and has LoRA's adapters, which want it to stay as it is; "
                            "name it in one of both",
                            weight.name()));
  }
  chosen.insert(chosen.end(), lora.parameters().begin(), lora.parameters().end());
  return chosen;
}

size_t output_number(const ImportedModel& model, const std::string& name) {
  if (model.outputs().empty()) throw_error(nullptr, fmt::format("@{} has no output to train by", model.name()));
  if (name.empty()) return 0;
  const auto found = std::ranges::find(model.outputs(), name);
  if (found != model.outputs().end()) return found - model.outputs().begin();
  throw_error(nullptr,
              fmt::format("@{} has no output '{}'; it has {}", model.name(), name, join(model.outputs(), ", ")));
}

void check_names(const ImportedModel& model, const std::string& target) {
  for (const std::string& name : {target, std::string("lr")}) {
    if (std::ranges::find(model.inputs(), name, &Spec::name) == model.inputs().end()) continue;
    throw_error(nullptr, fmt::format("@{} has an input '{}' already; call the loss's target otherwise: LOSS:NAME",
                                     model.name(), name));
  }
}

Outputs named_outputs(const ImportedModel& model, const std::vector<Tensor>& tensors) {
  Outputs outputs;
  for (size_t i = 0; i < tensors.size(); ++i) outputs.tensors.emplace_back(model.outputs()[i], tensors[i]);
  return outputs;
}

}  // namespace

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const OptimizerRow& row : kOptimizers) names.emplace_back(row.name);
  return names;
}

Program make_training_program(const ImportedModel& model, const TrainingOptions& options) {
  const TrainingLoss& loss = find_training_loss(options.loss);
  const OptimizerRow& row = find_optimizer(options);
  const size_t output = output_number(model, options.output);
  check_names(model, options.target);
  const Lora lora(model, options.lora);
  const MadeOptimizer optimizer = row.make(choose_parameters(model, lora, options), options);
  const auto outputs_of = [&](std::span<const Tensor> inputs) {
    return model(inputs, [&](const Op& op, Value* made) { return lora.adapted(op, made); });
  };

  Program program(model.name());
  TensorType output_type;
  program.add(model.name(), model.inputs(), [&](std::span<const Tensor> inputs) {
    const std::vector<Tensor> outputs = outputs_of(inputs);
    output_type = outputs[output].type();
    return named_outputs(model, outputs);
  });

  const size_t inputs_of_model = model.inputs().size();
  std::vector<Spec> specs = model.inputs();
  specs.push_back({loss.target(output_type), options.target});
  program.add("evaluate", specs, [&](std::span<const Tensor> inputs) {
    const Tensor made = outputs_of(inputs.first(inputs_of_model))[output];
    const Tensor& target = inputs[inputs_of_model];
    Outputs outputs = {{"loss", loss.loss(made, target)}};
    if (loss.accuracy) outputs.tensors.emplace_back("accuracy", loss.accuracy(made, target));
    return outputs;
  });

  specs.push_back(f32[{}].named("lr").otherwise(options.lr.value_or(row.lr)));
  program.add("train_step", specs, [&](std::span<const Tensor> inputs) {
    const Tensor made = outputs_of(inputs.first(inputs_of_model))[output];
    const Tensor result = loss.loss(made, inputs[inputs_of_model]);
    result.backward();
    optimizer->step(inputs.back());
    return Outputs{{"loss", result}};
  });
  return program;
}

}  // namespace ingot
