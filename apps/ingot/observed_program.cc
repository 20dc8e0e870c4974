#include "apps/ingot/observed_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "aot/base/error.h"
#include "aot/base/join.h"
#include "apps/ingot/stored_array.h"

namespace ingot {

ObservedProgram::ObservedProgram(const Module& module, CompileOptions options, ProductQuantization quantization,
                                 uint32_t threads) {
  quantization.are_observed = true;
  const size_t outputs_of_product = quantization.is_beside ? 3 : 2;
  options.targets = {"host"};
  options.quantization = std::move(quantization);
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(copy_module(module));
  const Compiled compiled = compile(std::move(modules), options);
  notes_ = compiled.product_notes;
  const std::vector<std::byte> bytes = bundle::write_bundle(compiled.spec);
  image_ = engine::AlignedBytes(bytes.size(), 4096);
  std::ranges::copy(bytes, image_.data());
  device_ = std::make_unique<Device>(std::span<const std::byte>(image_.data(), image_.size()), threads);
  device_->start_state("");
  inputs_ = device_->inputs(0);
  outputs_ = device_->outputs(0);
  bound_ = device_->bind(0);
  const auto of_integers = std::ranges::count(notes_, "", &ProductNote::why_float);
  outputs_.resize(outputs_.size() - of_integers * outputs_of_product);
  for (size_t k = 0, next = outputs_.size(); k < notes_.size(); ++k) {
    first_outputs_.push_back(next);
    if (notes_[k].why_float.empty()) next += outputs_of_product;
  }
}

void ObservedProgram::take(const ObservedData& data) {
  data_name_ = join(data.files, ", ");
  batches_ = std::make_unique<Batches>(data.files, inputs_, fill_inputs(*device_, 0, inputs_, data.settings, bound_),
                                       data.cast);
}

void ObservedProgram::run(int64_t step) {
  batches_->fill(step, bound_.inputs);
  check_inputs(step);
  device_->run(0);
  check_products(step);
}

std::span<const float> ObservedProgram::output(size_t output) const {
  const std::span<std::byte> bytes = bound_.outputs[output];
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

void ObservedProgram::check_inputs(int64_t step) const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const DType dtype = graph_dtype(inputs_[i].dtype);
    if (!is_float(dtype)) continue;
    const size_t bytes = info(dtype).bytes;
    for (size_t at = 0; at < bound_.inputs[i].size(); at += bytes) {
      if (!std::isnan(load_float(dtype, &bound_.inputs[i][at]))) continue;
      throw_error(nullptr, fmt::format("{}: step {} of '{}' has a NaN at element {}; leave the step out", data_name_,
                                       step, inputs_[i].name, at / bytes));
    }
  }
}

void ObservedProgram::check_products(int64_t step) const {
  for (size_t k = 0; k < notes_.size(); ++k) {
    if (!notes_[k].why_float.empty()) continue;
    const auto is_finite = [](float value) { return std::isfinite(value); };
    if (std::ranges::all_of(reads(k), is_finite)) continue;
    throw_error(notes_[k].location, fmt::format("{}: at step {} what {} reads is not finite, which no integer can say",
                                                data_name_, step, notes_[k].name));
  }
}

}  // namespace ingot
