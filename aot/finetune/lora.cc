#include "aot/finetune/lora.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>

#include "aot/base/contains.h"
#include "aot/base/error.h"
#include "aot/base/join.h"
#include "aot/base/nearest.h"
#include "aot/frontend/trace/trace.h"
#include "aot/frontend/trace/variable.h"
#include "aot/ops/ops.h"

namespace ingot {
namespace {

// --- names ---

// Those that a pattern may fit.
std::vector<std::string> names_of(const MultipliedWeight& weight) {
  std::vector<std::string> names = {weight.name};
  constexpr std::string_view kSuffix = ".weight";
  if (weight.name.ends_with(kSuffix)) names.push_back(weight.name.substr(0, weight.name.size() - kSuffix.size()));
  for (const WeightProduct& product : weight.products) {
    for (std::string& name : product.names()) names.push_back(std::move(name));
  }
  return names;
}

bool fits(const std::string& pattern, const MultipliedWeight& weight) {
  return std::ranges::any_of(names_of(weight),
                             [&](const std::string& name) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; });
}

bool fits(const LoraOptions& options, const MultipliedWeight& weight) {
  return std::ranges::any_of(options.patterns, [&](const std::string& pattern) { return fits(pattern, weight); });
}

// How far the plain part of a pattern is from a name, or from the end of one: "v_proj" of "layers.0.q_proj".
int distance(std::string_view plain, std::string_view name) {
  int least = edit_distance(plain, name);
  for (size_t at = name.find_first_of("./"); at != name.npos; at = name.find_first_of("./", at + 1)) {
    least = std::min(least, edit_distance(plain, name.substr(at + 1)));
  }
  return least;
}

// The products there are, those with names like the pattern first.
std::string products_like(const std::string& pattern, const std::vector<MultipliedWeight>& weights) {
  std::string plain = pattern;
  std::erase(plain, '*');
  plain.erase(0, std::min(plain.find_first_not_of("./"), plain.size()));
  std::vector<std::pair<int, std::string>> products;
  for (const MultipliedWeight& weight : weights) {
    int least = distance(plain, weight.name);
    for (const std::string& name : names_of(weight)) least = std::min(least, distance(plain, name));
    const std::vector<std::string> nodes = weight.products[0].names();
    products.emplace_back(least,
                          nodes.empty() ? weight.name : fmt::format("{} (by {})", weight.name, join(nodes, " of ")));
  }
  std::ranges::stable_sort(products, {}, &std::pair<int, std::string>::first);
  constexpr size_t kMost = 12;
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(products.size(), kMost); ++i) texts.push_back(products[i].second);
  if (products.size() > kMost) texts.emplace_back("...");
  return texts.empty() ? "it has none" : "there are " + join(texts, ", ");
}

// --- checks ---

void check_patterns(const LoraOptions& options, const std::vector<MultipliedWeight>& weights) {
  for (const std::string& pattern : options.patterns) {
    if (std::ranges::any_of(weights, [&](const MultipliedWeight& weight) { return fits(pattern, weight); })) continue;
    throw_error(nullptr, fmt::format("LoRA: no product by a weight is called '{}'; {}", pattern,
                                     products_like(pattern, weights)));
  }
}

void check_options(const LoraOptions& options) {
  if (options.rank < 1) throw_error(nullptr, fmt::format("LoRA: the rank is {}; it must be 1 or more", options.rank));
  if (options.alpha && !std::isfinite(*options.alpha)) {
    throw_error(nullptr, fmt::format("LoRA: alpha is {}; it must be a finite number", *options.alpha));
  }
  if (options.patterns.empty()) throw_error(nullptr, "LoRA: which products? Give patterns of their names");
}

// What is merged into the weight must change nothing but products.
void check_weight(const MultipliedWeight& weight, const LoraOptions& options, const ImportedModel& model) {
  if (weight.other_reader) {
    throw_error(nullptr,
                fmt::format("LoRA: '{}' is also read by {} '{}', not only by products; leave it out", weight.name,
                            weight.other_reader->name(), describe(weight.other_reader->location)));
  }
  const int64_t smaller = std::ranges::min(weight.type.shape);
  if (options.rank >= smaller) {
    throw_error(nullptr, fmt::format("LoRA: the rank {} is not below {}, the smaller side of '{}', {}", options.rank,
                                     smaller, weight.name, to_string(weight.type)));
  }
  for (const char* const suffix : {kLoraA, kLoraB, kLoraScale}) {
    const std::string name = weight.name + suffix;
    const bool is_taken =
        std::ranges::any_of(model.weights(), [&](const Tensor& other) { return other.name() == name; });
    if (is_taken) throw_error(nullptr, fmt::format("LoRA: the model has a weight '{}' already", name));
  }
}

}  // namespace

Lora::Lora(const ImportedModel& model, const std::vector<LoraOptions>& options) {
  if (options.empty()) return;
  const std::vector<MultipliedWeight> weights = multiplied_weights(model.function());
  for (const LoraOptions& one : options) {
    check_options(one);
    check_patterns(one, weights);
  }
  for (const MultipliedWeight& weight : weights) {
    const auto found = std::ranges::find_if(options, [&](const LoraOptions& one) { return fits(one, weight); });
    if (found == options.end()) continue;
    check_weight(weight, *found, model);
    adapt(weight, *found);
  }
}

bool Lora::adapts(const std::string& weight) const { return contains(weights_, weight); }

// Of floats of 16 bits the adapters are f32: what one step adds to them is less than they tell apart.
void Lora::adapt(const MultipliedWeight& weight, const LoraOptions& options) {
  const DType dtype = info(weight.type.dtype).bits < 32 ? DType::kF32 : weight.type.dtype;
  const int64_t in_dim = weight.products[0].in_dim, out_dim = 1 - in_dim;
  const int64_t in_size = weight.type.shape[in_dim];
  Shape a_shape = weight.type.shape, b_shape = weight.type.shape;
  a_shape[out_dim] = options.rank;
  b_shape[in_dim] = options.rank;
  const double bound = 1 / std::sqrt(static_cast<double>(in_size));
  const double scale = options.alpha.value_or(static_cast<double>(options.rank)) / static_cast<double>(options.rank);
  const Tensor a = parameter(weight.name + kLoraA, {dtype, a_shape}, init::uniform(-bound, bound));
  const Tensor b = parameter(weight.name + kLoraB, {dtype, b_shape}, init::zeros());
  const Tensor factor = buffer(weight.name + kLoraScale, {dtype, {}}, init::constant(scale));
  for (const WeightProduct& product : weight.products) {
    const bool is_forward = product.in_dim == in_dim;  // else by the transpose, and by theirs
    adapters_.emplace(product.op, Adapter{product, is_forward ? a : b, is_forward ? b : a, factor});
  }
  parameters_.insert(parameters_.end(), {a, b});
  weights_.push_back(weight.name);
}

Value* Lora::adapted(const Op& op, Value* made) const {
  const auto found = adapters_.find(&op);
  if (found == adapters_.end()) return made;
  const Adapter& adapter = found->second;
  const auto [_, side, in_dim] = adapter.product;
  const DType dtype = adapter.first.dtype();
  GraphBuilder& b = builder();
  const Location outer = b.location;
  b.location = op.location;
  // As the model multiplies by the weight, which stands at `side`.
  const auto product = [&](Value* x, int64_t x_dim, const Tensor& matrix) {
    Value* const m = value_of(matrix);
    return side == 0 ? ops::dot_general(b, m, x, {{}, {}, {in_dim}, {x_dim}})
                     : ops::dot_general(b, x, m, {{}, {}, {x_dim}, {in_dim}});
  };
  const ops::DotDims dims = ops::read_dot_dims(op.attrs());
  Value* const x = ops::convert(b, made->op->operand(1 - side), dtype);
  Value* thin = product(x, side == 0 ? dims.rhs_contract[0] : dims.lhs_contract[0], adapter.first);
  thin = ops::multiply(b, thin, ops::broadcast_scalar(b, value_of(adapter.scale), thin->type.shape));
  Value* const added = product(thin, side == 0 ? 0 : thin->type.rank() - 1, adapter.second);
  Value* const sum = ops::convert(b, ops::add(b, ops::convert(b, made, dtype), added), made->type.dtype);
  b.location = outer;
  return sum;
}

}  // namespace ingot
