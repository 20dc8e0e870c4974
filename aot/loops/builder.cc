#include "aot/loops/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "aot/base/divide.h"
#include "aot/base/error.h"
#include "aot/loops/fold.h"
#include "aot/loops/scalar.h"

namespace ingot::loops {
namespace {

constexpr int64_t kMaxTasks = std::numeric_limits<uint32_t>::max();

bool fits_i32(int64_t low, int64_t high) {
  return low >= std::numeric_limits<int32_t>::min() && high <= std::numeric_limits<int32_t>::max();
}

std::shared_ptr<ExprNode> new_node(ExprKind kind, DType dtype, int lanes, std::vector<Expr> args = {}) {
  auto node = std::make_shared<ExprNode>();
  node->kind = kind;
  node->dtype = dtype;
  node->lanes = lanes;
  node->args = std::move(args);
  return node;
}

Expr unsplat(const Expr& value) { return value->kind == ExprKind::kSplat ? value->args[0] : value; }

}  // namespace

KernelBuilder::KernelBuilder(std::string name, int vector_lanes) : vector_lanes_(vector_lanes) {
  kernel_.name = std::move(name);
  kernel_.vars[kTaskVar].high = kMaxTasks;
  kernel_.vars[kLaneVar].lanes = vector_lanes;
  kernel_.vars[kLaneVar].high = vector_lanes - 1;
  open_.push_back({&kernel_.body, {}});
  names_ = {"task", "lane"};
}

std::string KernelBuilder::unique_name(std::string name) {
  if (name.empty()) name = "v";
  std::string candidate = name;
  for (int k = 1; !names_.insert(candidate).second; ++k) candidate = name + "." + std::to_string(k);
  return candidate;
}

BufferId KernelBuilder::buffer(std::string name, DType dtype, int64_t elements, BufferRole role) {
  kernel_.buffers.push_back({.name = unique_name(std::move(name)), .dtype = dtype, .elements = elements, .role = role});
  return static_cast<BufferId>(kernel_.buffers.size()) - 1;
}

BufferId KernelBuilder::input(std::string name, DType dtype, int64_t elements) {
  return buffer(std::move(name), dtype, elements, BufferRole::kInput);
}

BufferId KernelBuilder::output(std::string name, DType dtype, int64_t elements, BufferId may_alias) {
  const BufferId id = buffer(std::move(name), dtype, elements, BufferRole::kOutput);
  kernel_.buffers[id].may_alias = may_alias;
  return id;
}

BufferId KernelBuilder::scratch(std::string name, DType dtype, int64_t elements) {
  return buffer(std::move(name), dtype, elements, BufferRole::kScratch);
}

TileId KernelBuilder::tile(std::string name, DType dtype, int lanes, std::vector<int64_t> dims) {
  kernel_.tiles.push_back({unique_name(std::move(name)), dtype, lanes, std::move(dims)});
  return static_cast<TileId>(kernel_.tiles.size()) - 1;
}

VarId KernelBuilder::variable(const std::string& name, VarKind kind, DType dtype, int lanes, int64_t low,
                              int64_t high) {
  kernel_.vars.push_back(
      {.name = unique_name(name), .kind = kind, .dtype = dtype, .lanes = lanes, .low = low, .high = high});
  return static_cast<VarId>(kernel_.vars.size()) - 1;
}

Index KernelBuilder::settle(const Index& index) const {
  Index settled = index;
  for (const Index::Term& term : index.terms) {
    const Var& var = kernel_.vars[term.var];
    if (var.low == var.high) settled = settled.without(term.var) + Index(var.low * term.coefficient);
  }
  return settled;
}

// --- statements ---

void KernelBuilder::set_task_count(int64_t count) {
  INGOT_CHECK(kernel_.body.empty() && count >= 0);
  if (count > kMaxTasks) {
    throw_limit(nullptr,
                fmt::format("the kernel '{}' would have {} tasks; at most {} are possible: make the tensors smaller",
                            kernel_.name, count, kMaxTasks));
  }
  kernel_.task_count = count;
  kernel_.vars[kTaskVar].high = std::max<int64_t>(count - 1, 0);
}

void KernelBuilder::append(Stmt stmt) { open_.back().statements->push_back(std::move(stmt)); }

void KernelBuilder::fill(std::vector<Stmt>& block, const std::function<void()>& body) {
  open_.push_back({&block, {}});
  body();
  open_.pop_back();
}

void KernelBuilder::loop(const std::string& name, Index lower, Index upper, int64_t step,
                         const std::function<void(Index)>& body, std::vector<Index> upper_also) {
  INGOT_CHECK(step > 0);
  lower = settle(lower);
  // An upper bound that is never the least says nothing.
  std::vector<Index> bounds;
  upper_also.insert(upper_also.begin(), std::move(upper));
  for (Index& bound : upper_also) {
    bound = settle(bound);
    const auto exceeds = [&](const Index& a, const Index& b) { return kernel_.low(a - b) >= 0; };
    if (std::ranges::any_of(bounds, [&](const Index& other) { return exceeds(bound, other); })) continue;
    std::erase_if(bounds, [&](const Index& other) { return exceeds(other, bound); });
    bounds.push_back(bound);
  }
  int64_t most_trips = 0;
  bool runs_once = true;
  for (const Index& bound : bounds) {
    const int64_t least = kernel_.low(bound - lower);
    const int64_t most = kernel_.high(bound - lower);
    if (most <= 0) return;
    runs_once &= least > 0;
    const int64_t trips = divide_up(most, step);
    most_trips = most_trips == 0 ? trips : std::min(most_trips, trips);
  }
  if (runs_once && most_trips == 1) return body(lower);

  Stmt stmt;
  stmt.kind = StmtKind::kFor;
  stmt.var = variable(name, VarKind::kLoop, DType::kI64, 1, 0, 0);
  stmt.lower = std::move(lower);
  stmt.upper = bounds.front();
  stmt.upper_also.assign(bounds.begin() + 1, bounds.end());
  stmt.step = step;
  set_loop_range(kernel_, stmt, kernel_.vars[stmt.var]);
  fill(stmt.body, [&] { body(Index::variable(stmt.var)); });
  append(std::move(stmt));
}

void KernelBuilder::unrolled(const std::string& name, int64_t count, const std::function<void(Index)>& body,
                             bool apart) {
  if (count <= 0) return;
  if (count == 1) return body(0);
  Stmt stmt;
  stmt.kind = StmtKind::kFor;
  stmt.var = variable(name, VarKind::kLoop, DType::kI64, 1, 0, count - 1);
  stmt.upper = count;
  stmt.unroll = true;
  stmt.apart = apart;
  fill(stmt.body, [&] { body(Index::variable(stmt.var)); });
  append(std::move(stmt));
}

void KernelBuilder::if_then(Expr condition, const std::function<void()>& then, const std::function<void()>& otherwise) {
  if (const auto known = condition ? loops::constant_bits(condition) : Bits{1}) {
    if (*known != 0) return then();
    if (otherwise) otherwise();
    return;
  }
  Stmt stmt;
  stmt.kind = StmtKind::kIf;
  stmt.value = std::move(condition);
  fill(stmt.body, then);
  if (otherwise) fill(stmt.else_body, otherwise);
  append(std::move(stmt));
}

Expr KernelBuilder::let(const std::string& name, Expr value) {
  if (value->kind == ExprKind::kConstant || value->kind == ExprKind::kVar) return value;
  auto node = new_node(ExprKind::kVar, value->dtype, value->lanes);
  const Var unknown;
  node->var = variable(name, VarKind::kLet, value->dtype, value->lanes, unknown.low, unknown.high);
  Stmt stmt;
  stmt.kind = StmtKind::kLet;
  stmt.var = node->var;
  stmt.value = std::move(value);
  append(std::move(stmt));
  return node;
}

Index KernelBuilder::trusted_index(const std::string& name, Expr value, int64_t low, int64_t high) {
  const Index index = let_index(name, std::move(value), low, high);
  for (const Index::Term& term : index.terms) kernel_.vars[term.var].is_trusted = true;
  return index;
}

Index KernelBuilder::let_index(const std::string& name, Expr value, int64_t low, int64_t high) {
  INGOT_CHECK(is_integer(value->dtype));
  if (value->kind == ExprKind::kConstant) return int_of_bits(value->dtype, value->bits);
  if (low == high) return low;
  const VarId var = variable(name, VarKind::kLet, value->dtype, value->lanes, low, high);
  Stmt stmt;
  stmt.kind = StmtKind::kLet;
  stmt.var = var;
  stmt.value = std::move(value);
  append(std::move(stmt));
  return Index::variable(var);
}

void KernelBuilder::set(TileId tile, std::vector<Index> indices, Expr value) {
  Stmt stmt;
  stmt.kind = StmtKind::kSet;
  stmt.tile = tile;
  for (Index& index : indices) stmt.indices.push_back(settle(index));
  stmt.value = splat(std::move(value), kernel_.tiles[tile].lanes);
  append(std::move(stmt));
}

void KernelBuilder::store(BufferId buffer, Index index, Expr value, Expr mask) {
  if (mask) {
    if (const auto known = loops::constant_bits(mask)) {
      if (*known == 0) return;
      mask = nullptr;
    }
  }
  Stmt stmt;
  stmt.kind = StmtKind::kStore;
  stmt.buffer = buffer;
  stmt.index = settle(index);
  const int lanes = has_lanes(stmt.index) ? vector_lanes_ : 1;
  stmt.value = splat(std::move(value), lanes);
  stmt.mask = mask ? splat(std::move(mask), lanes) : nullptr;
  append(std::move(stmt));
}

void KernelBuilder::prefetch(BufferId buffer, Index index) {
  Stmt stmt;
  stmt.kind = StmtKind::kPrefetch;
  stmt.buffer = buffer;
  stmt.index = settle(index);
  append(std::move(stmt));
}

void KernelBuilder::transpose(TileId tile) {
  Stmt stmt;
  stmt.kind = StmtKind::kTranspose;
  stmt.tile = tile;
  append(std::move(stmt));
}

// --- expressions ---

Expr KernelBuilder::constant(DType dtype, double value) {
  const DType held = register_dtype(dtype);
  if (is_float(held)) return make_constant(held, bits_of_float(held, value));
  return make_constant(held, convert_scalar(DType::kF64, held, bits_of_float(DType::kF64, value)));
}

Expr KernelBuilder::constant_int(DType dtype, int64_t value) {
  const DType held = register_dtype(dtype);
  return make_constant(held, convert_scalar(DType::kI64, held, static_cast<Bits>(value)));
}

Expr KernelBuilder::constant_bits(DType dtype, uint64_t bits) {
  return make_constant(dtype, is_float(dtype) ? bits : bits_of_int(dtype, static_cast<int64_t>(bits)));
}

Expr KernelBuilder::index_value(const Index& index, DType dtype) {
  const Index settled = settle(index);
  if (settled.is_constant()) return constant_int(dtype, settled.constant);
  auto node = new_node(ExprKind::kIndex, register_dtype(dtype), has_lanes(settled) ? vector_lanes_ : 1);
  node->index = settled;
  return node;
}

Expr KernelBuilder::load(BufferId buffer, const Index& index, Expr mask) {
  const DType dtype = register_dtype(kernel_.buffers[buffer].dtype);
  if (mask) {
    if (const auto known = loops::constant_bits(mask)) {
      if (*known == 0) return make_constant(dtype, 0);
      mask = nullptr;
    }
  }
  const Index settled = settle(index);
  // A mask with lanes makes a vector even of one address.
  const int lanes = has_lanes(settled) || (mask && mask->lanes > 1) ? vector_lanes_ : 1;
  auto node = new_node(ExprKind::kLoad, dtype, lanes);
  node->buffer = buffer;
  node->index = settled;
  if (mask) node->args.push_back(splat(std::move(mask), lanes));
  return node;
}

Expr KernelBuilder::reload(BufferId buffer, const Index& index) {
  auto node = std::make_shared<ExprNode>(*load(buffer, index));
  node->is_again = true;
  return node;
}

Expr KernelBuilder::read(TileId tile, std::vector<Index> indices) {
  auto node = new_node(ExprKind::kTile, kernel_.tiles[tile].dtype, kernel_.tiles[tile].lanes);
  node->tile = tile;
  for (Index& index : indices) node->indices.push_back(settle(index));
  return node;
}

Expr KernelBuilder::apply(ScalarOp op, std::vector<Expr> args) {
  INGOT_CHECK(static_cast<int>(args.size()) == info(op).arity);
  const auto is_single = [](const Expr& arg) { return arg->lanes == 1 || arg->kind == ExprKind::kSplat; };
  int lanes = 1;
  for (const Expr& arg : args) lanes = is_single(arg) ? lanes : arg->lanes;
  for (Expr& arg : args) arg = unsplat(arg);
  if (Expr simpler = simplified(op, args)) return simpler;
  for (Expr& arg : args) arg = splat(std::move(arg), lanes);
  const DType dtype = result_dtype(op, args.back()->dtype);
  auto node = new_node(ExprKind::kApply, dtype, lanes, std::move(args));
  node->op = op;
  return node;
}

Expr KernelBuilder::convert(DType to, Expr value) {
  to = register_dtype(to);
  value = unsplat(value);
  if (value->dtype == to) return value;
  if (value->kind == ExprKind::kConstant) return make_constant(to, convert_scalar(value->dtype, to, value->bits));
  const int lanes = value->lanes;
  return new_node(ExprKind::kConvert, to, lanes, {std::move(value)});
}

Expr KernelBuilder::bitcast(DType to, Expr value) {
  value = unsplat(value);
  INGOT_CHECK(ingot::info(to).bits == ingot::info(value->dtype).bits && register_dtype(to) == to);
  if (value->dtype == to) return value;
  if (value->kind == ExprKind::kConstant) return make_constant(to, value->bits);
  const int lanes = value->lanes;
  return new_node(ExprKind::kBitcast, to, lanes, {std::move(value)});
}

Expr KernelBuilder::round(DType to, Expr value) {
  value = unsplat(value);
  INGOT_CHECK(is_float(to) && is_float(value->dtype));
  if (ingot::info(to).bits >= ingot::info(value->dtype).bits) return value;
  if (value->kind == ExprKind::kConstant) {
    return make_constant(value->dtype, round_scalar(value->dtype, to, value->bits));
  }
  if (value->kind == ExprKind::kRound && value->round_to == to) return value;
  const int lanes = value->lanes;
  const DType dtype = value->dtype;
  auto node = new_node(ExprKind::kRound, dtype, lanes, {std::move(value)});
  node->round_to = to;
  return node;
}

Expr KernelBuilder::splat(Expr value, int lanes) {
  if (value->lanes == lanes) return value;
  INGOT_CHECK(value->lanes == 1 && lanes == vector_lanes_);
  const DType dtype = value->dtype;
  return new_node(ExprKind::kSplat, dtype, lanes, {std::move(value)});
}

Expr KernelBuilder::reduce(ScalarOp op, Expr value) {
  if (value->lanes == 1) return value;
  const DType dtype = value->dtype;
  auto node = new_node(ExprKind::kReduce, dtype, 1, {std::move(value)});
  node->op = op;
  return node;
}

// --- integer helpers ---

int64_t KernelBuilder::multiple_of(const Index::Term& term) const {
  return std::abs(term.coefficient) * kernel_.vars[term.var].multiple_of;
}

Index KernelBuilder::divide(const Index& unsettled, int64_t by) {
  INGOT_CHECK(by > 0);
  const Index index = settle(unsettled);
  // What is a multiple of the divisor divides term by term; the rest may stay within one multiple.
  Index quotient(floor_divide(index.constant, by));
  Index rest(index.constant - quotient.constant * by);
  for (const Index::Term& term : index.terms) {
    quotient = quotient + Index::variable(term.var, term.coefficient / by);
    rest = rest + Index::variable(term.var, term.coefficient % by);
  }
  const int64_t least = floor_divide(kernel_.low(rest), by);
  if (least == floor_divide(kernel_.high(rest), by)) return quotient + least;

  // Small terms that never carry into the next multiple of some g vanish: floor((big + small) / by) = floor(big / by)
  // when g divides big and by, and 0 <= small < g.
  int64_t finest = 0;
  Index big;
  for (const Index::Term& candidate : rest.terms) {
    const int64_t g = std::gcd(multiple_of(candidate), by);
    Index multiples(floor_divide(rest.constant, g) * g);
    for (const Index::Term& term : rest.terms) {
      if (multiple_of(term) % g == 0) multiples = multiples + Index::variable(term.var, term.coefficient);
    }
    const Index small = rest - multiples;
    if (g > finest && kernel_.low(small) >= 0 && kernel_.high(small) < g) {
      finest = g;
      big = multiples;
    }
  }
  if (finest == 0) big = rest;
  for (const Block& block : open_) {
    for (const auto& [numerator, divisor, result] : block.quotients) {
      if (numerator == big && divisor == by) return quotient + result;
    }
  }
  // Unsigned division needs a dividend that is not negative.
  const int64_t lift = std::max<int64_t>(0, -floor_divide(kernel_.low(big), by));
  const Index dividend = big + lift * by;
  const DType dtype = fits_i32(0, kernel_.high(dividend)) ? DType::kUI32 : DType::kI64;
  const Expr value = apply(ScalarOp::kDivide, {index_value(dividend, dtype), constant_int(dtype, by)});
  const Index lifted =
      let_index("q", value, floor_divide(kernel_.low(dividend), by), floor_divide(kernel_.high(dividend), by));
  int64_t multiple = dividend.constant;
  for (const Index::Term& term : dividend.terms) multiple = std::gcd(multiple, multiple_of(term));
  if (multiple % by == 0) {
    for (const Index::Term& term : lifted.terms) kernel_.vars[term.var].multiple_of = multiple / by;
  }
  open_.back().quotients.emplace_back(big, by, lifted - lift);
  return quotient + lifted - lift;
}

Index KernelBuilder::modulo(const Index& index, int64_t by) {
  const auto leaves_nothing = [&](const Index::Term& term) { return multiple_of(term) % by == 0; };
  if (std::ranges::all_of(index.terms, leaves_nothing)) return index.constant - floor_divide(index.constant, by) * by;
  const Index quotient = divide(index, by);
  const Index remainder = settle(index) - quotient * by;
  // A difference of the index and a quotient hides its range: name it.
  if (kernel_.low(remainder) >= 0 && kernel_.high(remainder) < by) return remainder;
  const DType dtype = fits_i32(kernel_.low(index), kernel_.high(index)) ? DType::kI32 : DType::kI64;
  // Lanes that never carry stay affine, so that contiguous memory is seen to be contiguous.
  const Index lanes = Index::variable(kLaneVar, remainder.coefficient(kLaneVar));
  const Index rest = remainder.without(kLaneVar);
  const bool is_carried = !has_lanes(lanes) || has_lanes(rest);
  const Index affine = is_carried ? Index(0) : lanes;
  const Index named = remainder - affine;
  const int64_t most = by - 1 - kernel_.high(affine);
  int64_t multiple = named.constant;
  for (const Index::Term& term : named.terms) multiple = std::gcd(multiple, multiple_of(term));
  if (multiple > most) return affine;  // of such multiples only zero is so small
  const Index result = let_index("r", index_value(named, dtype), 0, most);
  for (const Index::Term& term : result.terms) kernel_.vars[term.var].multiple_of = multiple;
  return result + affine;
}

Expr KernelBuilder::in_range(const Index& unsettled, int64_t lower, int64_t upper) {
  const Index index = settle(unsettled);
  const int64_t low = kernel_.low(index);
  const int64_t high = kernel_.high(index);
  if (high < lower || low >= upper) return constant_int(DType::kI1, 0);
  const DType dtype = fits_i32(low, high) && fits_i32(lower, upper) ? DType::kI32 : DType::kI64;
  const Expr value = index_value(index, dtype);
  const Expr above = low >= lower ? nullptr : apply(ScalarOp::kGreaterEqual, {value, constant_int(dtype, lower)});
  const Expr below = high < upper ? nullptr : apply(ScalarOp::kLess, {value, constant_int(dtype, upper)});
  return both(above, below);
}

Expr KernelBuilder::both(Expr a, Expr b) {
  if (!a) return b;
  if (!b) return a;
  return apply(ScalarOp::kAnd, {std::move(a), std::move(b)});
}

Kernel KernelBuilder::finish() {
  INGOT_CHECK(open_.size() == 1);
  kernel_.vars[kTaskVar].high = std::max<int64_t>(kernel_.task_count - 1, 0);
  lay_out_scratch(kernel_);
  verify(kernel_);
  return std::move(kernel_);
}

}  // namespace ingot::loops
