// What JAX computes for a golden training run, and the rule by which another run agrees with it.
//
// A run agrees when every scalar float output is within 3 * noise + 1e-6 of the reference at every step (relative), and
// every float tensor of the last state within 3 * noise + 1e-5 (relative L2); integer state is exact. The reference is
// the f64 run, or the f32 one where there is none; the noise is what rounding alone does to JAX's own run.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "aot/base/safetensors.h"
#include "aot/graph/tensor.h"

namespace ingot {

inline DType dtype_of_safetensors(std::string_view name) {
  for (int k = 0; k < kDTypeCount; ++k) {
    const DTypeInfo& row = info(static_cast<DType>(k));
    const bool fills_its_bytes = row.bits == 8 * row.bytes || row.bits == 1;
    if (row.safetensors == name && fills_its_bytes) return static_cast<DType>(k);
  }
  throw std::out_of_range("no element type is called " + std::string(name));
}

// A stored array, or row `row` of it.
inline RefTensor tensor_at(const SafeTensor& stored, int64_t row = -1) {
  TensorType type{dtype_of_safetensors(stored.dtype), stored.shape};
  const std::byte* from = stored.data.data();
  if (row >= 0) {
    type.shape.erase(type.shape.begin());
    from += row * type.bytes();
  }
  return from_literal(*dense(type, {from, from + type.bytes()}));
}

class JaxReference {
 public:
  explicit JaxReference(const std::string& name) : folder_(root() / name) {
    if (!exists()) return;
    manifest_ = nlohmann::json::parse(std::ifstream(folder_ / "manifest.json"));
    data_ = SafeTensors::read(data_path());
  }

  bool exists() const { return std::filesystem::exists(folder_ / "manifest.json"); }
  int steps() const { return manifest_.at("steps").get<int>(); }
  std::string program_path() const { return (folder_ / "step.mlir").string(); }
  std::string data_path() const { return (folder_ / "data.safetensors").string(); }

  RefTensor start(const std::string& state) const { return tensor_at(stored("state." + state)); }
  RefTensor batch(const std::string& input, int64_t step) const { return tensor_at(stored("batch." + input), step); }

  // Names of the scalar float outputs.
  std::vector<std::string> scalar_outputs() const {
    std::vector<std::string> names;
    for (const nlohmann::json& result : manifest_.at("results")) {
      if (result.at("kind") != "output" || !result.at("shape").empty()) continue;
      if (result.at("dtype").get<std::string>().starts_with("float")) names.push_back(result.at("name"));
    }
    return names;
  }

  void expect_output(const std::string& name, int step, double value) const {
    const SafeTensor* f64 = data_.find("expect.f64." + name);
    const double expected = tensor_at(f64 ? *f64 : stored("expect.f32." + name), step).f[0];
    const double limit = 3 * manifest_["f32_noise"]["output"][name].get<double>() + 1e-6;
    EXPECT_LE(std::abs(value - expected) / std::max(std::abs(expected), 1e-30), limit) << name << " at step " << step;
  }

  // `get(name)` is the last value of the state of that name.
  template <typename Get>
  void expect_final_state(const Get& get) const {
    for (const auto& [key, stored_tensor] : data_.tensors()) {
      if (!key.starts_with("final.")) continue;
      const std::string name = key.substr(key.find('.', 6) + 1);
      const RefTensor expected = tensor_at(stored_tensor), actual = get(name);
      EXPECT_EQ(actual.i, expected.i) << name;
      ASSERT_EQ(actual.f.size(), expected.f.size()) << name;
      if (!expected.is_float()) continue;
      const double limit = 3 * manifest_["f32_noise"]["state"][name].get<double>() + 1e-5;
      EXPECT_LE(distance(actual.f, expected.f), limit) << name;
    }
  }

 private:
  static std::filesystem::path root() { return std::filesystem::path(INGOT_SHARED_DIR) / "goldens" / "jax"; }

  // Relative, in the L2 norm.
  static double distance(const std::vector<double>& a, const std::vector<double>& reference) {
    double square = 0, norm = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      square += (a[i] - reference[i]) * (a[i] - reference[i]);
      norm += reference[i] * reference[i];
    }
    return std::sqrt(square / (norm > 0 ? norm : 1));
  }

  const SafeTensor& stored(const std::string& key) const {
    const SafeTensor* found = data_.find(key);
    if (!found) throw std::out_of_range(key + " is not in " + data_path());
    return *found;
  }

  std::filesystem::path folder_;
  nlohmann::json manifest_;
  SafeTensors data_;
};

}  // namespace ingot
