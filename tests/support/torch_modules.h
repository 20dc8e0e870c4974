// What the goldens' PyTorch classes are called here: one row for each class, built from the goldens' kwargs.
#pragma once

#include <ingot/ingot.h>

#include <nlohmann/json.hpp>

namespace ingot {

using Kwargs = nlohmann::json;

// A module with f64 parameters, or null: the class, or what these kwargs ask of it, does not exist yet.
std::shared_ptr<nn::Module> make_torch_module(const std::string& class_name, const Kwargs& kwargs);

// The loss as a function of its inputs, or an empty function.
using LossFunction = std::function<Tensor(std::span<const Tensor>)>;
LossFunction make_torch_loss(const std::string& class_name, const Kwargs& kwargs);

std::shared_ptr<optim::Optimizer> make_torch_optimizer(const std::string& class_name, const Kwargs& kwargs,
                                                       const std::vector<Tensor>& parameters);

}  // namespace ingot
