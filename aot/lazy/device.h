// Tensors that hold values: what is done with them is recorded, compiled and run when somebody looks.
//
//   lazy::Device device;                                    // from here on, on this thread
//   nn::Sequential net{nn::Linear(8, 16), nn::ReLU(), nn::Linear(16, 4)};
//   optim::Adam adam(net.parameters());
//   for (...) {
//     adam.zero_grad();
//     const Tensor x = device.tensor(f32[{32, 8}], inputs), y = device.tensor(i32[{32}], classes);
//     const Tensor loss = cross_entropy(net(x), y);
//     loss.backward();
//     adam.step();                                          // runs what was recorded
//     std::cout << loss << "\n";
//   }
//
// A graph that was met before is not compiled again. docs/lazy_tensors.md says what makes a graph another one.
#pragma once

#include <memory>
#include <ranges>
#include <span>
#include <string>

#include "aot/frontend/trace/program.h"

namespace ingot::lazy {

struct DeviceOptions {
  std::string target = "host";  // a row of the target table that this machine runs
  uint32_t threads = 1;
  int64_t seed = 0;  // of parameters' first values and of dropout, as the input of `init`
};

// Holds the values of tensors, parameters and optimizers' slots: none outlives it. One at a time on a thread, which
// alone uses its tensors.
class Device {
 public:
  explicit Device(const DeviceOptions& options = {});
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // A tensor of these values, row-major, which are copied: device.tensor(f32[{2, 3}], values).
  template <std::ranges::contiguous_range R>
    requires Element<std::ranges::range_value_t<R>>
  Tensor tensor(const Spec& spec, const R& values, Where at = Where::current()) {
    return copied(spec.type, dtype_of<std::ranges::range_value_t<R>>(), std::as_bytes(std::span(values)), at);
  }
  template <Element T>
  Tensor tensor(const Spec& spec, std::initializer_list<T> values, Where at = Where::current()) {
    return tensor(spec, std::span(values.begin(), values.size()), at);
  }

  // Computes every tensor that is still in use. So do to_vector(), item() and printing, where a value is not there yet,
  // and an optimizer's step(). What nothing refers to any more is never computed.
  void mark_step();

  // Starts random numbers anew: those of dropout, and the first values of parameters that were not used yet.
  void manual_seed(int64_t seed);

  // What is recorded for a tensor, as StableHLO text; what is computed already is an input.
  std::string text(const Tensor& tensor, Where at = Where::current()) const;

  // A report in the form of PyTorch/XLA's: CompileTime and ExecuteTime, CachedCompile and UncachedCompile.
  std::string metrics() const;
  int64_t samples(const std::string& metric) const;
  int64_t counter(const std::string& name) const;
  void clear_metrics();

 private:
  struct Data;
  Tensor copied(const TensorType& type, DType dtype, std::span<const std::byte> values, const Where& at);

  std::unique_ptr<Data> data_;
};

}  // namespace ingot::lazy
