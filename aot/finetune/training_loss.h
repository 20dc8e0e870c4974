// The losses by which an imported model is trained, by name.
#pragma once

#include <string>
#include <vector>

#include "aot/frontend/trace/functions.h"
#include "aot/frontend/trace/program.h"

namespace ingot {

struct TrainingLoss {
  const char* name;  // PyTorch's
  const char* help;

  // What the output is compared with, for an output of this type.
  TensorType (*target)(const TensorType& output);
  Tensor (*loss)(const Tensor& output, const Tensor& target);
  // The share of right answers, or null where there is no such thing.
  Tensor (*accuracy)(const Tensor& output, const Tensor& target);
};

const std::vector<TrainingLoss>& training_losses();

// Throws an Error that lists the names.
const TrainingLoss& find_training_loss(const std::string& name);

}  // namespace ingot
