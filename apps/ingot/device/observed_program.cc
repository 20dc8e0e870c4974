#include "apps/ingot/device/observed_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "aot/base/error.h"
#include "aot/base/join.h"
#include "apps/ingot/files/stored_array.h"

namespace ingot {

ObservedProgram::ObservedProgram(const Module& module, CompileOptions options, uint32_t threads) {
  const bool are_of_integers = options.quantization.has_value();
  const bool is_beside =
      are_of_integers ? options.quantization->is_beside : options.observed_weights == ObservedWeights::kBeside;
  if (are_of_integers) options.quantization->are_observed = true;
  options.targets = {"host"};
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(copy_module(module));
  const Compiled compiled = compile(std::move(modules), options);
  products_ = compiled.product_notes;
  weights_ = compiled.weight_notes;
  const std::vector<std::byte> bytes = bundle::write_bundle(compiled.spec);
  image_ = engine::AlignedBytes(bytes.size(), 4096);
  std::ranges::copy(bytes, image_.data());
  device_ = std::make_unique<Device>(std::span<const std::byte>(image_.data(), image_.size()), threads);
  device_->start_state("");
  inputs_ = device_->inputs(0);
  outputs_ = device_->outputs(0);
  bound_ = device_->bind(0);
  first_given_ = are_of_integers ? 1 : 0;
  place_results(first_given_ + (is_beside ? 2 : 1));
}

// What is observed stands behind the program's own outputs.
void ObservedProgram::place_results(size_t outputs_of_product) {
  size_t next = 0;
  const auto place = [&](bool is_observed) {
    first_outputs_.push_back(next);
    if (is_observed) next += outputs_of_product;
  };
  for (const ProductNote& note : products_) place(note.why_float.empty());
  if (products_.empty()) {
    for (const WeightNote& note : weights_) place(note.is_observed);
  }
  outputs_.resize(outputs_.size() - next);
  for (size_t& first : first_outputs_) first += outputs_.size();
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
  for (size_t k = 0; k < products_.size(); ++k) {
    if (!products_[k].why_float.empty()) continue;
    const auto is_finite = [](float value) { return std::isfinite(value); };
    if (std::ranges::all_of(reads(k), is_finite)) continue;
    throw_error(products_[k].location,
                fmt::format("{}: at step {} what {} reads is not finite, which no integer can say", data_name_, step,
                            products_[k].name));
  }
}

}  // namespace ingot
