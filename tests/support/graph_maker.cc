#include "tests/support/graph_maker.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "aot/graph/evaluate.h"
#include "aot/graph/quantization.h"
#include "tests/support/op_case.h"

namespace ingot {
namespace {

// Beyond, sums and products of a few overflow.
double greatest_wanted(DType dtype) { return dtype == DType::kF16 ? 1e3 : 1e6; }

bool is_tame(const RefTensor& tensor) {
  return std::ranges::all_of(tensor.f, [&](double x) { return std::abs(x) <= greatest_wanted(tensor.type.dtype); });
}

// Values from outside that the ops from `first` on read, their regions too.
Values outside_values(Block& block, std::list<std::unique_ptr<Op>>::iterator first) {
  std::set<const Value*> inside;
  Values outside;
  const auto read = [&](Value* value) {
    if (inside.insert(value).second) outside.push_back(value);
  };
  for (auto it = first; it != block.ops.end(); ++it) {
    std::ranges::for_each((*it)->operands, read);
    for (const auto& region : (*it)->regions) std::ranges::for_each(captured_values(*region), read);
    for (const auto& result : (*it)->results) inside.insert(result.get());
  }
  return outside;
}

}  // namespace

GraphMaker::GraphMaker(Random& random, const RandomGraphOptions& options, Function& function)
    : random(random), options_(options), function_(function), block_(function.body) {
  b.at_end(block_);
  do {
    base_.assign(1 + random.below(4), 0);
    for (int64_t& extent : base_) extent = this->extent();
  } while (!is_small(base_));
}

GraphMaker::GraphMaker(GraphMaker& outer, Block& region, const std::vector<RefTensor>& carried)
    : random(outer.random),
      options_(outer.options_),
      function_(outer.function_),
      block_(region),
      base_(outer.base_),
      depth_(outer.depth_ + 1) {
  outer.settle();
  known_ = outer.known_;
  b.at_end(block_);
  for (size_t i = 0; i < carried.size(); ++i) learn(region.argument(static_cast<int>(i)), carried[i]);
}

void GraphMaker::learn(Value* value, RefTensor tensor) {
  known_.push_back({value, std::make_shared<const RefTensor>(std::move(tensor))});
}

// --- types ---

int64_t GraphMaker::extent() {
  static const std::vector<int64_t> kFew = {1, 1, 2, 2, 3, 3, 4, 5, 5, 7, 8};
  static const std::vector<int64_t> kMany = {9, 11, 13, 16, 17, 23, 31, 32, 33, 47, 64, 67};
  if (random.chance(0.02)) return 0;
  return random.one_of(random.chance(options_.long_extents) ? kMany : kFew);
}

Shape GraphMaker::shape(int rank) {
  Shape shape(rank);
  do {
    for (int64_t& extent : shape) extent = this->extent();
  } while (!is_small(shape));
  return shape;
}

Shape GraphMaker::shape() {
  if (random.chance(0.1)) return {};
  if (random.chance(0.25)) return shape(static_cast<int>(random.below(6)));
  Shape shape = base_;
  if (random.chance(0.3)) shape.erase(shape.begin() + random.below(static_cast<int64_t>(shape.size())));
  if (random.chance(0.15)) shape.insert(shape.begin() + random.below(static_cast<int64_t>(shape.size()) + 1), 1);
  return shape;
}

DType GraphMaker::float_dtype() {
  static const std::vector<DType> kDTypes = {DType::kF32, DType::kF32,  DType::kF32,
                                             DType::kF64, DType::kBF16, DType::kF16};
  return random.one_of(kDTypes);
}

DType GraphMaker::dtype() {
  if (random.chance(0.6)) return float_dtype();
  if (random.chance(0.2)) return DType::kI32;
  return static_cast<DType>(random.below(kDTypeCount));
}

// --- values ---

Value* GraphMaker::any() {
  const auto count = static_cast<int64_t>(known_.size());
  if (count == 0) return of({dtype(), shape()});
  return known_[std::max(random.below(count), random.below(count))].value;
}

Value* GraphMaker::any(const Fits& fits) {
  Values found;
  for (const Known& known : known_) {
    if (fits(known.value->type)) found.push_back(known.value);
  }
  if (found.empty()) return nullptr;
  const auto count = static_cast<int64_t>(found.size());
  return found[std::max(random.below(count), random.below(count))];
}

Value* GraphMaker::argument(const RefTensor& example) {
  if (const std::string misfit = scales_misfit(example.type); !misfit.empty()) throw_error(nullptr, misfit);
  Value* value = function_.body.add_argument(example.type);
  function_.argument_attrs.emplace_back();
  set_example(function_, function_.argument_count() - 1, example);
  learn(value, example);
  return value;
}

Value* GraphMaker::constant(const TensorType& type) {
  if (type.shape.size() > 0 && !is_bool(type.dtype) && random.chance(0.2)) {
    return make(kIota, {}, {{"iota_dimension", IntAttr{random.below(type.rank())}}}, {type})->result();
  }
  if (type.elements() <= 40 && random.chance(0.5)) return ops::constant(b, to_literal(random_tensor(type, random)));
  return ops::constant(b, type, is_bool(type.dtype) ? random.below(2) : random.below(4) - 1);
}

Value* GraphMaker::of(const TensorType& type) {
  if (random.chance(0.8)) {
    if (Value* same = any([&](const TensorType& other) { return other == type; })) return same;
  }
  if (type.quantization) return argument(random_tensor(type, random));
  if (random.chance(0.4)) {
    const auto converts = [&](const TensorType& other) { return other.shape == type.shape; };
    if (Value* x = any(converts)) return ops::convert(b, x, type.dtype);
  }
  if (type.rank() > 0 && random.chance(0.3)) {  // a row, a column, a scalar
    Shape shape;
    std::vector<int64_t> dims;
    for (int64_t d = 0; d < type.rank(); ++d) {
      if (random.chance(0.5)) continue;
      shape.push_back(random.chance(0.2) ? 1 : type.shape[d]);
      dims.push_back(d);
    }
    if (Value* x = any([&](const TensorType& other) { return other.shape == shape; })) {
      return ops::broadcast_in_dim(b, ops::convert(b, x, type.dtype), type.shape, dims);
    }
  }
  const bool is_full = function_.argument_count() >= options_.argument_count_max;
  if (is_full || random.chance(0.2)) return constant(type);
  RefTensor example = random_tensor(type, random);
  if (random.chance(0.05) && !is_bool(type.dtype)) {
    std::mt19937_64 engine(random.bits());
    const Sample range{.text = "", .low = -2, .high = 2, .integer_low = -8, .integer_high = 8, .specials = true};
    example = draw(type, range, engine, static_cast<size_t>(random.below(4)));
  }
  return argument(example);
}

const RefTensor& GraphMaker::tensor_of(const Value* value) {
  settle();
  auto known = std::ranges::find(known_, value, &Known::value);
  if (known == known_.end()) {  // an argument that a region asked for
    INGOT_CHECK(value->block == &function_.body);
    learn(function_.body.argument(value->index), examples(function_)[value->index]);
    known = std::prev(known_.end());
  }
  return *known->tensor;
}

// --- recipes ---

Op* GraphMaker::make(const OpDef& op, Values operands, AttrMap attrs, std::vector<TensorType> declared,
                     std::vector<std::unique_ptr<Block>> regions) {
  return b.create(op, std::move(operands), std::move(attrs), std::move(declared), std::move(regions));
}

bool GraphMaker::settle() {
  const auto first = std::next(block_.ops.begin(), static_cast<std::ptrdiff_t>(settled_op_count_));
  settled_op_count_ = block_.ops.size();
  if (first == block_.ops.end()) return true;
  Module module;
  Function& function = *module.add_function("tail");
  ValueMap map;
  std::vector<RefTensor> arguments;
  for (Value* value : outside_values(block_, first)) {
    map[value] = function.body.add_argument(value->type);
    arguments.push_back(tensor_of(value));
  }
  Values made, copies;
  for (auto it = first; it != block_.ops.end(); ++it) {
    for (const auto& result : (*it)->results) made.push_back(result.get());
    for (const auto& result : copy_op(**it, function.body, map)->results) copies.push_back(result.get());
  }
  GraphBuilder end;
  end.at_end(function.body);
  end.create(kFuncReturn, copies);
  std::vector<RefTensor> tensors = evaluate(function, std::move(arguments));
  const bool all_tame = std::ranges::all_of(tensors, is_tame);
  for (size_t i = 0; i < made.size(); ++i) {
    if (!is_token(made[i]->type.dtype)) learn(made[i], std::move(tensors[i]));
  }
  return all_tame;
}

void GraphMaker::forget_ops_from(size_t op_count) {
  while (block_.ops.size() > op_count) {
    Op* last = block_.ops.back().get();
    std::erase_if(known_, [&](const Known& known) { return known.value->op == last; });
    erase(last);
  }
  settled_op_count_ = std::min(settled_op_count_, op_count);
}

bool GraphMaker::follow(const std::function<void(GraphMaker&)>& recipe) {
  const size_t op_count = block_.ops.size();
  const auto is_small_enough = [&](const std::unique_ptr<Value>& result) {
    return result->type.elements() <= 4 * options_.elements_max;
  };
  bool stays = true;
  try {
    recipe(*this);
    for (auto op = block_.ops.rbegin(); block_.ops.size() - std::distance(block_.ops.rbegin(), op) > op_count; ++op) {
      stays = stays && std::ranges::all_of((*op)->results, is_small_enough);
    }
    stays = stays && (settle() || random.chance(0.03));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kBug) throw;
    stays = false;
  }
  if (!stays) forget_ops_from(op_count);
  return stays && block_.ops.size() > op_count;
}

void GraphMaker::grow(int count) {
  static const double kSum = std::accumulate(recipes().begin(), recipes().end(), 0.0,
                                             [](double sum, const Recipe& recipe) { return sum + recipe.weight; });
  for (int made = 0, tried = 0; made < count && tried < 4 * count; ++tried) {
    double at = random.uniform() * kSum;
    const auto recipe = std::ranges::find_if(recipes(), [&](const Recipe& it) { return (at -= it.weight) < 0; });
    if (recipe != recipes().end()) made += follow(recipe->make);
  }
}

}  // namespace ingot
