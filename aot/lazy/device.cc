#include "aot/lazy/device.h"

#include <fmt/format.h>

#include "aot/lazy/recorder.h"

namespace ingot::lazy {

struct Device::Data {
  Metrics metrics;
  Programs programs;
  Recorder recorder;

  explicit Data(const DeviceOptions& options)
      : programs(options.target, options.threads, metrics), recorder(programs, options.seed) {}
};

Device::Device(const DeviceOptions& options) : data_(std::make_unique<Data>(options)) {}
Device::~Device() = default;

Tensor Device::copied(const TensorType& type, DType dtype, std::span<const std::byte> values, const Where& at) {
  const Scope scope(at);
  if (type.dtype != dtype && !(is_bool(type.dtype) && dtype == DType::kUI8)) {
    fail(fmt::format("tensor: {} cannot be made of elements that are {}", to_string(type), to_string(dtype)));
  }
  const auto byte_count = static_cast<size_t>(type.bytes());
  if (values.size() != byte_count) {
    fail(fmt::format("tensor: {} has {} elements, and {} are given", to_string(type), type.elements(),
                     values.size() / info(dtype).bytes));
  }
  auto memory = std::make_shared<Memory>(byte_count);
  std::ranges::copy(values, memory->data());
  return data_->recorder.tensor(type, std::move(memory));
}

void Device::mark_step() { data_->recorder.run(); }
void Device::manual_seed(int64_t seed) { data_->recorder.seed(seed); }

std::string Device::text(const Tensor& tensor, Where at) const {
  const Scope scope(at);
  return data_->recorder.text(tensor);
}

std::string Device::metrics() const { return data_->metrics.report(); }
int64_t Device::samples(const std::string& metric) const { return data_->metrics.samples(metric); }
int64_t Device::counter(const std::string& name) const { return data_->metrics.counter(name); }
void Device::clear_metrics() { data_->metrics = {}; }

}  // namespace ingot::lazy
