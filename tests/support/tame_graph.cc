#include "tests/support/tame_graph.h"

#include <algorithm>
#include <numeric>

#include "aot/ops/support/build.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

class Generator {
 public:
  Generator(uint64_t seed, const TameGraphOptions& options, Function& function)
      : options_(options), random_(seed), function_(function) {
    b_.at_end(function.body);
  }

  void run() {
    base_ = random_shape();
    for (int i = 0; i < options_.argument_count; ++i) {
      const DType dtype = random_.chance(0.8) ? DType::kF32 : DType::kI32;
      values_.push_back(function_.body.add_argument({dtype, related_shape()}));
      function_.argument_attrs.emplace_back();
    }
    for (int i = 0; i < options_.op_count; ++i) add(random_op());
    Values results;
    for (int64_t count = 1 + random_.below(3); count > 0; --count) results.push_back(some_value());
    results.push_back(values_.back());
    b_.create(kFuncReturn, results);
    for (const Value* value : results) function_.results.push_back({value->type, {}});
  }

 private:
  void add(Value* value) {
    if (value) values_.push_back(value);
  }

  Shape random_shape() {
    Shape shape(1 + random_.below(options_.rank_max));
    for (int64_t& extent : shape) extent = 1 + random_.below(options_.extent_max);
    return shape;
  }

  // The base shape, or what is left of it without some dimensions: so that operands fit each other often.
  Shape related_shape() {
    if (random_.chance(0.15)) return {};
    Shape shape = base_;
    if (random_.chance(0.4) && !shape.empty())
      shape.erase(shape.begin() + random_.below(static_cast<int64_t>(shape.size())));
    if (random_.chance(0.2)) shape.insert(shape.begin() + random_.below(static_cast<int64_t>(shape.size()) + 1), 1);
    return shape;
  }

  // Late values are taken more often: graphs grow deep.
  Value* some_value() {
    const auto count = static_cast<int64_t>(values_.size());
    return values_[std::max(random_.below(count), random_.below(count))];
  }

  Value* some_float() {
    for (int i = 0; i < 8; ++i) {
      if (Value* value = some_value(); value->type.dtype == DType::kF32) return value;
    }
    return ops::convert(b_, some_value(), DType::kF32);
  }

  // Another value of this type: one that is there, a splat, or something broadcast or converted to it.
  Value* fitting(const TensorType& type) {
    Values same;
    for (Value* value : values_) {
      if (value->type == type) same.push_back(value);
    }
    if (!same.empty() && random_.chance(0.6)) return random_.one_of(same);
    if (random_.chance(0.4)) return ops::constant(b_, type, static_cast<double>(random_.below(4)) - 1);
    Value* value = ops::convert(b_, some_value(), type.dtype);
    return broadcast_to(value, type.shape);
  }

  // Along the dimensions that fit, in order; what does not fit becomes a scalar first.
  Value* broadcast_to(Value* value, const Shape& shape) {
    if (value->type.shape == shape) return value;
    std::vector<int64_t> dims;
    size_t next = 0;
    for (int64_t extent : value->type.shape) {
      while (next < shape.size() && shape[next] != extent && extent != 1) ++next;
      if (next == shape.size()) return ops::constant(b_, {value->type.dtype, shape}, 1);
      dims.push_back(static_cast<int64_t>(next++));
    }
    return ops::broadcast_in_dim(b_, value, shape, dims);
  }

  Value* random_op() {
    switch (random_.below(12)) {
      case 0:
        return unary();
      case 1:
      case 2:
      case 3:
        return binary();
      case 4:
        return choose();
      case 5:
        return move();
      case 6:
        return cut_or_join();
      case 7:
        return broadcast_to(some_value(), related_shape());
      case 8:
        return ops::convert(b_, some_value(), random_.chance(0.5) ? DType::kF32 : DType::kI32);
      case 9:
      case 10:
        return options_.reductions ? reduction() : binary();
      default:
        return options_.contractions ? contraction() : unary();
    }
  }

  Value* unary() {
    static const std::vector<const OpDef*> kExact = {&kNegate, &kAbs, &kNegate, &kFloor, &kSign};
    static const std::vector<const OpDef*> kAll = {&kNegate, &kAbs, &kTanh, &kExponential, &kLogistic, &kSine, &kFloor};
    return ops::unary(b_, *random_.one_of(options_.transcendentals ? kAll : kExact), some_float());
  }

  Value* binary() {
    static const std::vector<const OpDef*> kNames = {&kAdd,     &kSubtract, &kMultiply, &kMaximum,
                                                     &kMinimum, &kAdd,      &kMultiply};
    Value* x = some_value();
    if (is_bool(x->type.dtype)) return ops::binary(b_, random_.chance(0.5) ? kAnd : kXor, x, fitting(x->type));
    Value* y = fitting(x->type);
    return random_.chance(0.5) ? ops::binary(b_, *random_.one_of(kNames), x, y)
                               : ops::binary(b_, *random_.one_of(kNames), y, x);
  }

  Value* choose() {
    static const std::vector<std::string> kDirections = {"EQ", "NE", "LT", "LE", "GT", "GE"};
    Value* x = some_float();
    Value* y = fitting(x->type);
    Value* condition = ops::compare(b_, random_.one_of(kDirections), x, y);
    if (random_.chance(0.3)) values_.push_back(condition);
    return ops::select(b_, condition, x, fitting(x->type));
  }

  Value* move() {
    Value* x = some_value();
    std::vector<int64_t> order(x->type.shape.size());
    std::iota(order.begin(), order.end(), 0);
    if (random_.chance(0.5)) {
      for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(static_cast<int64_t>(i))]);
      return ops::transpose(b_, x, order);
    }
    if (random_.chance(0.3)) return ops::reverse(b_, x, order);
    Shape shape = x->type.shape;
    if (random_.chance(0.5)) {
      shape.insert(shape.begin() + random_.below(static_cast<int64_t>(shape.size()) + 1), 1);
    } else {
      shape = {x->type.elements()};
    }
    return ops::reshape(b_, x, shape);
  }

  Value* cut_or_join() {
    Value* x = some_value();
    if (x->type.shape.empty()) return unary();
    const int64_t dim = random_.below(x->type.rank());
    if (random_.chance(0.3)) return ops::concatenate(b_, {x, fitting(x->type)}, dim);
    if (random_.chance(0.4)) {
      Shape low(x->type.shape.size()), high = low, interior = low;
      low[dim] = random_.below(3);
      high[dim] = random_.below(3) - 1;
      interior[dim] = random_.below(2);
      if (x->type.shape[dim] + low[dim] + high[dim] <= 0) high[dim] = 0;
      return ops::pad(b_, x, ops::constant(b_, {x->type.dtype, {}}, 0), low, high, interior);
    }
    Shape start(x->type.shape.size()), limit = x->type.shape, strides(x->type.shape.size(), 1);
    start[dim] = random_.below(limit[dim]);
    limit[dim] = start[dim] + 1 + random_.below(limit[dim] - start[dim]);
    strides[dim] = 1 + random_.below(2);
    return ops::slice(b_, x, start, limit, strides);
  }

  // Reduces some dimensions; half of the time the result is broadcast back, as in a softmax.
  Value* reduction() {
    Value* x = some_float();
    if (x->type.shape.empty()) return unary();
    std::vector<int64_t> dims, kept;
    for (int64_t d = 0; d < x->type.rank(); ++d) (random_.chance(0.5) ? dims : kept).push_back(d);
    if (dims.empty()) {
      dims.push_back(kept.back());
      kept.pop_back();
    }
    Value* result = ops::reduce(b_, random_.chance(0.6) ? kAdd : kMaximum, x, dims);
    if (random_.chance(0.5)) return result;
    values_.push_back(result);
    return ops::binary(b_, random_.chance(0.5) ? kSubtract : kMultiply, x,
                       ops::broadcast_in_dim(b_, result, x->type.shape, kept));
  }

  Value* contraction() {
    Value* x = some_float();
    if (x->type.shape.empty()) return unary();
    Value* y = fitting(x->type);
    if (x->type.rank() > 2) return ops::dot_general(b_, x, y, {{0}, {0}, {2}, {2}});
    const int64_t dim = random_.below(x->type.rank());
    return ops::dot_general(b_, x, y, {{}, {}, {dim}, {dim}});
  }

  TameGraphOptions options_;
  Random random_;
  GraphBuilder b_;
  Function& function_;
  Shape base_;
  Values values_;
};

}  // namespace

std::unique_ptr<Module> tame_graph(uint64_t seed, const TameGraphOptions& options) {
  auto module = std::make_unique<Module>();
  Generator(seed, options, *module->add_function("main")).run();
  return module;
}

}  // namespace ingot
