// From an imported model to a program that trains it: @train_step, @evaluate and the model's own entry over one state.
#pragma once

#include <optional>

#include "aot/finetune/lora.h"

namespace ingot {

struct TrainingOptions {
  std::string loss;                 // a name of training_losses()
  std::string target = "target";    // the input that the loss compares with
  std::string output = {};          // of the model, that the loss is of; "": its first
  std::string optimizer = "adamw";  // sgd, adam, adamw, rmsprop or adagrad, with PyTorch's defaults
  std::optional<double> lr = {};    // the default of the input `lr` of @train_step
  std::optional<double> weight_decay = {};
  std::optional<double> momentum = {};  // sgd and rmsprop
  // Patterns of weights' names (fnmatch); others stay as they are. None: all of floats or, with LoRA, none of them.
  std::vector<std::string> trainable = {};
  std::vector<LoraOptions> lora = {};  // products by weights that stay as they are get adapters that learn
};

std::vector<std::string> optimizer_names();

// @train_step takes the model's inputs, the target and `lr`, and gives `loss`. @evaluate takes the first two and gives
// `loss` and, of classes, `accuracy`. The model's own entry, as it was imported, follows the training. Normalisation by
// stored statistics keeps them: an imported model computes as in inference.
//
// Throws an Error that names what is wrong: a pattern that no weight of floats has, an op without a gradient.
Program make_training_program(const ImportedModel& model, const TrainingOptions& options);

}  // namespace ingot
