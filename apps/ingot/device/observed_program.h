// A program on this machine, with what its products and convolutions read and give as further outputs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "aot/graph/graph.h"
#include "aot/pipeline/compile.h"
#include "apps/ingot/device/batches.h"
#include "apps/ingot/device/device.h"

namespace ingot {

// Where its data comes from, as for `ingot train`.
struct ObservedData {
  std::vector<std::string> files;
  std::vector<std::string> settings;  // NAME=NUMBER
  bool cast = false;
};

class ObservedProgram {
 public:
  // The only entry point of a copy of `module`. What is observed are the products of options.quantization, or what
  // options.observed_weights says.
  ObservedProgram(const Module& module, CompileOptions options, uint32_t threads);
  void take(const ObservedData& data);

  const std::vector<ProductNote>& products() const { return products_; }
  const std::vector<WeightNote>& weights() const { return weights_; }
  const Batches& batches() const { return *batches_; }
  const std::vector<ingot_tensor_info>& inputs() const { return inputs_; }
  const std::vector<ingot_tensor_info>& outputs() const { return outputs_; }  // the program's own

  // Throws an Error where an input is not a number, or a product reads what is not finite.
  void run(int64_t step);

  // After a run: what an output is, of f32; and a product, or one by weights, that is observed: what it reads only of the
  // former, what it gives in integers where it is beside these.
  std::span<const float> output(size_t output) const;
  std::span<const float> reads(size_t product) const { return output(first_outputs_[product]); }
  std::span<const float> gives(size_t product) const { return output(first_outputs_[product] + first_given_); }
  std::span<const float> gives_in_integers(size_t product) const {
    return output(first_outputs_[product] + first_given_ + 1);
  }

 private:
  void check_inputs(int64_t step) const;
  void check_products(int64_t step) const;

  void place_results(size_t outputs_of_product);

  std::vector<ProductNote> products_;
  std::vector<WeightNote> weights_;
  std::string data_name_;
  engine::AlignedBytes image_;
  std::unique_ptr<Device> device_;
  std::vector<ingot_tensor_info> inputs_, outputs_;
  Device::Bound bound_;
  std::unique_ptr<Batches> batches_;
  std::vector<size_t> first_outputs_;  // of each product, or of each one by weights
  size_t first_given_ = 0;             // behind these
};

}  // namespace ingot
