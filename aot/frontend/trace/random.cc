// Random functions of an entry point, and how variables start.
#include <fmt/format.h>

#include <atomic>

#include "aot/frontend/trace/functions.h"
#include "aot/frontend/trace/philox.h"
#include "aot/frontend/trace/trace.h"

namespace ingot {
namespace {

std::shared_ptr<Variable> named_variable(std::string name, TensorType type, std::string role, Initializer initializer,
                                         bool requires_grad = false) {
  return std::make_shared<Variable>(Variable{[name = std::move(name)] { return name; }, std::move(type),
                                             std::move(role), std::move(initializer), requires_grad});
}

// FNV-1a, 64 bits (Fowler, Noll & Vo): a name's stream of random numbers.
uint64_t hash(std::string_view text) {
  uint64_t value = 0xCBF29CE484222325;
  for (unsigned char c : text) value = (value ^ c) * 0x100000001B3;
  return value;
}

}  // namespace

uint64_t Variable::next_number() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

Tensor first_value(const Variable& variable, const Tensor& seed) {
  return variable.initializer({variable.type, seed, hash(variable.name())});
}

namespace init {

Initializer constant(double value) {
  return [value](const InitArgs& args) { return full(args.type.shape, value, args.type.dtype); };
}

Initializer uniform(double low, double high) {
  return
      [=](const InitArgs& args) { return random_uniform({args.seed, 0, args.stream}, args.type) * (high - low) + low; };
}

Initializer normal(double mean, double deviation) {
  return [=](const InitArgs& args) {
    const Tensor z = random_normal({args.seed, 0, args.stream}, args.type);
    return mean == 0 && deviation == 1 ? z : z * deviation + mean;
  };
}

Initializer seed() {
  return [](const InitArgs& args) { return args.seed; };
}

}  // namespace init

Tensor parameter(std::string name, TensorType type, Initializer initializer) {
  const bool requires_grad = is_float(type.dtype);
  return tensor_of(named_variable(std::move(name), std::move(type), "param", std::move(initializer), requires_grad));
}

Tensor buffer(std::string name, TensorType type, Initializer initializer) {
  return tensor_of(named_variable(std::move(name), std::move(type), "buffer", std::move(initializer)));
}

std::shared_ptr<Variable> random_seed() {
  static const auto variable = named_variable("rng.seed", {DType::kI64, {}}, "rng", init::seed());
  return variable;
}

std::shared_ptr<Variable> random_step() {
  static const auto variable = named_variable("rng.step", {DType::kI64, {}}, "step", init::zeros());
  return variable;
}

// The mask is an integer comparison with p in units of 2^-32: nothing of it is a float, and it is drawn again rather
// than kept for the backward pass.
Tensor dropout(const In& in, double p, bool training) {
  const Scope scope(in.at);
  const Tensor& x = in.tensor;
  if (!(p >= 0 && p <= 1)) fail(fmt::format("dropout: the probability {} is outside of [0, 1]", p));
  if (!training || p == 0) return x;
  if (p == 1) return x * 0;
  Trace& trace = Trace::current();
  const RandomKey key{tensor_of(random_seed()), tensor_of(random_step()), trace.next_random_stream()};
  const Tensor bits = random_bits(key, x.shape());
  const auto threshold = static_cast<int64_t>(p * 0x1p32);
  const Tensor limit = wrap(ops::constant(trace.b, splat_int({DType::kUI32, {}}, threshold)));
  return where(bits >= limit, x * (1 / (1 - p)), 0);
}

}  // namespace ingot
