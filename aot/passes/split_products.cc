#include <algorithm>
#include <optional>

#include "aot/analysis/walk.h"
#include "aot/base/contains.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/contraction.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

// Each part is a product of its own, which costs some steps; a small concatenation is copied in as little time.
constexpr int kPartsMax = 4;
constexpr int64_t kBytesMin = 16384;
// Rows of the other operand: beyond that, copying is little beside multiplying.
constexpr int64_t kRowsMax = 16;

// An operand of a dot_general, from the concatenation's side.
struct Side {
  Op* dot;
  int operand;  // which one is concatenated
  ops::DotDims dims;

  explicit Side(const Value::Use& use)
      : dot(use.op), operand(use.operand_index), dims(ops::read_dot_dims(dot->attrs())) {}

  const std::vector<int64_t>& batch() const { return operand == 0 ? dims.lhs_batch : dims.rhs_batch; }
  const std::vector<int64_t>& contract() const { return operand == 0 ? dims.lhs_contract : dims.rhs_contract; }
  const std::vector<int64_t>& other_contract() const { return operand == 0 ? dims.rhs_contract : dims.lhs_contract; }
  Value* joined() const { return dot->operand(operand); }
  Value* other() const { return dot->operand(1 - operand); }

  // How often each element of the concatenation is multiplied.
  int64_t rows() const {
    int64_t shared = 1;
    for (const std::vector<int64_t>* list : {&batch(), &contract()}) {
      for (const int64_t dim : *list) shared *= joined()->type.shape[dim];
    }
    return shared == 0 ? 0 : other()->type.elements() / shared;
  }

  // The dimension of the result that is this one of the concatenation.
  int64_t result_dim(int64_t dim) const {
    int64_t before = 0;
    for (int64_t d = 0; d < dim; ++d) before += !contains(batch(), d) && !contains(contract(), d);
    const auto batches = static_cast<int64_t>(batch().size()), depths = static_cast<int64_t>(contract().size());
    if (operand == 0) return batches + before;
    return dot->result()->type.rank() - (joined()->type.rank() - batches - depths) + before;
  }
};

bool gains(const Side& side, int64_t dim) {
  const DType dtype = side.dot->result()->type.dtype;
  if (side.other() == side.joined() || contains(side.batch(), dim)) return false;
  const bool adds_as_it_sums = !is_bool(dtype) && ops::accumulate_dtype(dtype) == dtype;
  return side.rows() <= kRowsMax && (adds_as_it_sums || !contains(side.contract(), dim));
}

// Whether nobody needs the concatenation then.
bool gains(const Op& op) {
  const auto is_constant = [](const Value* part) { return constant_of(part) != nullptr; };
  const Value* whole = op.result();
  if (op.operands.size() < 2 || op.operands.size() > kPartsMax || whole->type.bytes() < kBytesMin ||
      std::ranges::all_of(op.operands, is_constant)) {
    return false;
  }
  const int64_t dim = op.attrs().integer("dimension");
  return !whole->uses.empty() && std::ranges::all_of(whole->uses, [&](const Value::Use& use) {
    return use.op->block == op.block && use.op->is(kDotGeneral) && gains(Side(use), dim);
  });
}

// The product by one part, which begins at `start` of dimension `dim`.
Value* product_of(GraphBuilder& b, const Side& side, int64_t dim, Value* part, int64_t start) {
  TensorType type = side.dot->result()->type;
  Value* other = side.other();
  const int64_t extent = part->type.shape[dim];
  const auto at = std::ranges::find(side.contract(), dim);
  if (at == side.contract().end()) {
    type.shape[side.result_dim(dim)] = extent;
  } else {
    const int64_t depth = side.other_contract()[at - side.contract().begin()];
    Shape first(other->type.rank(), 0), last = other->type.shape;
    first[depth] = start;
    last[depth] = start + extent;
    other = ops::slice(b, other, first, last, Shape(other->type.rank(), 1));
  }
  const Values operands = side.operand == 0 ? Values{part, other} : Values{other, part};
  return b.make(*side.dot->def, operands, side.dot->attr_map, {type});
}

void split(GraphBuilder& b, const Op& op, const Side& side) {
  const int64_t dim = op.attrs().integer("dimension");
  b.before(*side.dot);
  b.location = side.dot->location;
  Values products;
  int64_t start = 0;
  for (Value* part : op.operands) {
    products.push_back(product_of(b, side, dim, part, start));
    start += part->type.shape[dim];
  }
  Value* whole = products[0];
  if (!contains(side.contract(), dim)) {
    whole = ops::concatenate(b, products, side.result_dim(dim));
  } else {
    for (size_t i = 1; i < products.size(); ++i) whole = ops::add(b, whole, products[i]);
  }
  replace_op(side.dot, {whole});
}

bool split_products(Block& block, GraphBuilder& b) {
  std::vector<Op*> found;
  for (const auto& op : block.ops) {
    if (op->is(kConcatenate) && gains(*op)) found.push_back(op.get());
  }
  for (Op* op : found) {
    while (!op->result()->uses.empty()) split(b, *op, Side(op->result()->uses[0]));
  }
  return !found.empty() && erase_unread(block);
}

}  // namespace

bool split_products(Module& module, PassContext&) {
  bool changed = false;
  GraphBuilder b;
  for_each_block(module, [&](Block& block) { changed |= split_products(block, b); });
  return changed;
}

}  // namespace ingot
