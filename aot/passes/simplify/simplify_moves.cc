#include <algorithm>
#include <numeric>

#include "aot/analysis/walk.h"
#include "aot/passes/simplify/simplify_rules.h"

namespace ingot {
namespace {

using Ints = std::vector<int64_t>;

const Shape& shape_of(const Value* value) { return value->type.shape; }

bool is_iota(const Ints& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

Value* reshape_to_result(GraphBuilder& b, const Op& op) {
  return ops::reshape(b, op.operand(0), shape_of(op.result()));
}

// ops whose result is their first operand when the types agree and nothing is renamed
Value* reshape_to_same(GraphBuilder&, const Op& op) {
  return op.operand(0)->type == op.result()->type ? op.operand(0) : nullptr;
}

Value* reshape_reshaped(GraphBuilder& b, const Op& op) {
  const Op* inner = made_by(op.operand(0), kReshape);
  return inner ? ops::reshape(b, inner->operand(0), shape_of(op.result())) : nullptr;
}

// A splat moved is a splat; a constant reshaped is a constant. Bytes are kept, so NaNs keep their payload.
Value* moved_splat(GraphBuilder& b, const Op& op) {
  if (!op.def->only_moves() || op.operands.size() != 1 || op.operand(0)->type.dtype != op.result()->type.dtype)
    return nullptr;
  const LiteralRef literal = constant_of(op.operand(0));
  if (!literal) return nullptr;
  if (literal->is_splat) return ops::constant(b, with_shape(*literal, shape_of(op.result())));
  if (literal->type.elements() == 1 && op.result()->type.elements() > 0) {
    auto one = std::make_shared<Literal>(*literal);
    one->is_splat = true;
    one->type = op.result()->type;
    return ops::constant(b, one);
  }
  return op.is(kReshape) ? ops::constant(b, with_shape(*literal, shape_of(op.result()))) : nullptr;
}

Value* transpose_nothing(GraphBuilder&, const Op& op) {
  return is_iota(op.attrs().ints("permutation")) ? op.operand(0) : nullptr;
}

Value* transpose_transposed(GraphBuilder& b, const Op& op) {
  const Op* inner = made_by(op.operand(0), kTranspose);
  if (!inner) return nullptr;
  const Ints first = inner->attrs().ints("permutation");
  Ints both = op.attrs().ints("permutation");
  for (int64_t& dim : both) dim = first[dim];
  return ops::transpose(b, inner->operand(0), both);
}

// Dimensions of extent 1 may go anywhere: the others keep their order.
Value* transpose_unit_dims(GraphBuilder& b, const Op& op) {
  int64_t last = -1;
  for (int64_t dim : op.attrs().ints("permutation")) {
    if (shape_of(op.operand(0))[dim] == 1) continue;
    if (dim < last) return nullptr;
    last = dim;
  }
  return reshape_to_result(b, op);
}

Value* broadcast_nothing(GraphBuilder& b, const Op& op) {
  const Ints dims = op.attrs().ints("broadcast_dimensions");
  if (op.operand(0)->type.elements() != op.result()->type.elements() || !std::is_sorted(dims.begin(), dims.end())) {
    return nullptr;
  }
  return reshape_to_result(b, op);
}

Value* broadcast_broadcast(GraphBuilder& b, const Op& op) {
  const Op* inner = made_by(op.operand(0), kBroadcastInDim);
  if (!inner) return nullptr;
  const Ints outer_dims = op.attrs().ints("broadcast_dimensions");
  Ints dims = inner->attrs().ints("broadcast_dimensions");
  for (int64_t& dim : dims) dim = outer_dims[dim];
  return ops::broadcast_in_dim(b, inner->operand(0), shape_of(op.result()), dims);
}

// The reshape only adds unit dimensions, or only removes them: then the broadcast can do without it.
Value* broadcast_reshaped(GraphBuilder& b, const Op& op) {
  const Op* reshape = made_by(op.operand(0), kReshape);
  if (!reshape) return nullptr;
  const Shape& from = shape_of(reshape->operand(0));
  const Shape& through = shape_of(reshape->result());
  const Ints outer = op.attrs().ints("broadcast_dimensions");
  Ints dims;
  size_t next = 0;
  for (int64_t extent : from) {
    while (next < through.size() && through[next] != extent && through[next] == 1) ++next;
    if (next == through.size() || through[next] != extent) return nullptr;
    dims.push_back(outer[next++]);
  }
  while (next < through.size() && through[next] == 1) ++next;
  if (next != through.size()) return nullptr;
  return ops::broadcast_in_dim(b, reshape->operand(0), shape_of(op.result()), dims);
}

Value* broadcast_transposed(GraphBuilder& b, const Op& op) {
  const Op* transpose = made_by(op.operand(0), kTranspose);
  if (!transpose) return nullptr;
  const Ints outer = op.attrs().ints("broadcast_dimensions");
  const Ints permutation = transpose->attrs().ints("permutation");
  Ints dims(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) dims[permutation[i]] = outer[i];
  return ops::broadcast_in_dim(b, transpose->operand(0), shape_of(op.result()), dims);
}

Value* slice_whole(GraphBuilder&, const Op& op) {
  return op.operand(0)->type == op.result()->type ? op.operand(0) : nullptr;
}

Value* slice_sliced(GraphBuilder& b, const Op& op) {
  const Op* inner = made_by(op.operand(0), kSlice);
  if (!inner) return nullptr;
  Ints start = inner->attrs().ints("start_indices"), limit = start, stride = inner->attrs().ints("strides");
  const Ints outer_start = op.attrs().ints("start_indices"), outer_stride = op.attrs().ints("strides");
  for (size_t d = 0; d < start.size(); ++d) {
    const int64_t count = shape_of(op.result())[d];
    if (count == 0) return nullptr;
    start[d] += outer_start[d] * stride[d];
    stride[d] = count == 1 ? 1 : stride[d] * outer_stride[d];
    limit[d] = start[d] + (count - 1) * stride[d] + 1;
  }
  return ops::slice(b, inner->operand(0), start, limit, stride);
}

Value* slice_of_concatenate(GraphBuilder& b, const Op& op) {
  const Op* whole = made_by(op.operand(0), kConcatenate);
  if (!whole) return nullptr;
  const int64_t dim = whole->attrs().integer("dimension");
  Ints start = op.attrs().ints("start_indices"), limit = op.attrs().ints("limit_indices");
  int64_t offset = 0;
  for (Value* piece : whole->operands) {
    const int64_t extent = shape_of(piece)[dim];
    if (start[dim] >= offset && limit[dim] <= offset + extent) {
      start[dim] -= offset;
      limit[dim] -= offset;
      return ops::slice(b, piece, start, limit, op.attrs().ints("strides"));
    }
    offset += extent;
  }
  return nullptr;
}

Value* dynamic_slice_constant(GraphBuilder& b, const Op& op) {
  const Ints sizes = op.attrs().ints("slice_sizes");
  Shape start, limit, strides(sizes.size(), 1);
  for (size_t d = 0; d < sizes.size(); ++d) {
    const LiteralRef at = constant_of(op.operand(static_cast<int>(d) + 1));
    if (!at || is_unsigned(at->type.dtype)) return nullptr;
    start.push_back(std::clamp<int64_t>(at->int_at(0), 0, shape_of(op.operand(0))[d] - sizes[d]));
    limit.push_back(start.back() + sizes[d]);
  }
  return ops::slice(b, op.operand(0), start, limit, strides);
}

Value* update_whole(GraphBuilder&, const Op& op) {
  return op.operand(1)->type == op.result()->type ? op.operand(1) : nullptr;
}

bool start_alike(const Op& a, const Op& b) {
  return std::equal(a.operands.begin() + 2, a.operands.end(), b.operands.begin() + 2, b.operands.end());
}

Value* select_updated(GraphBuilder& b, const Op& op) {
  const Op* where = made_by(op.operand(0), kDynamicUpdateSlice);
  const Op* update = made_by(op.operand(1), kDynamicUpdateSlice);
  if (!where || !update || !start_alike(*where, *update)) return nullptr;
  if (where->operand(1)->type.shape != shape_of(update->operand(1))) return nullptr;
  if (!is_all(where->operand(0), 0) || !is_all(where->operand(1), 1)) return nullptr;
  return ops::dynamic_update_slice(b, op.operand(2), update->operand(1),
                                   {update->operands.begin() + 2, update->operands.end()});
}

Value* add_to_window(GraphBuilder& b, const Op& op) {
  for (int i : {0, 1}) {
    const Op* update = made_by(op.operand(i), kDynamicUpdateSlice);
    if (!update || update->result()->uses.size() != 1 || !is_all(update->operand(0), 0)) continue;
    Value* sum = op.operand(1 - i);
    const Values starts(update->operands.begin() + 2, update->operands.end());
    Value* window = ops::dynamic_slice(b, sum, starts, shape_of(update->operand(1)));
    return ops::dynamic_update_slice(b, sum, ops::add(b, window, update->operand(1)), starts);
  }
  return nullptr;
}

bool is_zero(const Ints& values) {
  return std::all_of(values.begin(), values.end(), [](int64_t v) { return v == 0; });
}

Value* pad_nothing(GraphBuilder&, const Op& op) {
  const Attrs attrs = op.attrs();
  const bool nothing = is_zero(attrs.ints("edge_padding_low")) && is_zero(attrs.ints("edge_padding_high")) &&
                       op.operand(0)->type == op.result()->type;
  return nothing ? op.operand(0) : nullptr;
}

Value* pad_negative(GraphBuilder& b, const Op& op) {
  const Ints low = op.attrs().ints("edge_padding_low"), high = op.attrs().ints("edge_padding_high");
  const auto keeps_or_cuts = [](int64_t v) { return v <= 0; };
  if (!std::all_of(low.begin(), low.end(), keeps_or_cuts) || !std::all_of(high.begin(), high.end(), keeps_or_cuts) ||
      !is_zero(op.attrs().ints("interior_padding"))) {
    return nullptr;
  }
  Shape start, limit;
  for (size_t d = 0; d < low.size(); ++d) {
    start.push_back(-low[d]);
    limit.push_back(shape_of(op.operand(0))[d] + high[d]);
    if (start[d] > limit[d]) return nullptr;
  }
  return ops::slice(b, op.operand(0), start, limit, Shape(low.size(), 1));
}

Value* reverse_nothing(GraphBuilder&, const Op& op) {
  for (int64_t dim : op.attrs().ints("dimensions")) {
    if (shape_of(op.result())[dim] > 1) return nullptr;
  }
  return op.operand(0);
}

Value* reverse_reversed(GraphBuilder&, const Op& op) {
  const Op* inner = made_by(op.operand(0), kReverse);
  if (!inner) return nullptr;
  Ints a = op.attrs().ints("dimensions"), b = inner->attrs().ints("dimensions");
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b ? inner->operand(0) : nullptr;
}

Value* concatenate_one(GraphBuilder&, const Op& op) { return op.operands.size() == 1 ? op.operand(0) : nullptr; }

Value* concatenate_flat(GraphBuilder& b, const Op& op) {
  const int64_t dim = op.attrs().integer("dimension");
  Values pieces;
  bool changed = false;
  for (Value* piece : op.operands) {
    const Op* inner = made_by(piece, kConcatenate);
    if (shape_of(piece)[dim] == 0 && op.result()->type.elements() != 0) {
      changed = true;
    } else if (inner && inner->attrs().integer("dimension") == dim && piece->uses.size() == 1) {
      pieces.insert(pieces.end(), inner->operands.begin(), inner->operands.end());
      changed = true;
    } else {
      pieces.push_back(piece);
    }
  }
  return changed ? ops::concatenate(b, pieces, dim) : nullptr;
}

// The moves that make a value of a slice: reshapes and transposes, the last first, then the slice; empty for others.
std::vector<const Op*> moves_of_slice(const Value* value) {
  std::vector<const Op*> moves;
  for (const Op* op = value->op; op; op = op->operand(0)->op) {
    moves.push_back(op);
    if (op->is(kSlice)) return moves;
    if (!op->is(kReshape) && !op->is(kTranspose)) break;
  }
  return {};
}

bool moves_alike(const Op& a, const Op& b) {
  if (a.def != b.def || shape_of(a.result()) != shape_of(b.result())) return false;
  return !a.is(kTranspose) || a.attrs().ints("permutation") == b.attrs().ints("permutation");
}

// Whether a slice has the k-th of `count` equal parts of the first dimension, and all of the others.
bool is_part(const Op& slice, int64_t k, int64_t count) {
  const Shape& whole = shape_of(slice.operand(0));
  const Ints start = slice.attrs().ints("start_indices"), strides = slice.attrs().ints("strides");
  Shape part = whole;
  if (part.empty() || part[0] % count != 0) return false;
  part[0] /= count;
  const bool is_dense = std::ranges::all_of(strides, [](int64_t stride) { return stride == 1; });
  return is_dense && shape_of(slice.result()) == part && start[0] == k * part[0];
}

Value* concatenate_parts(GraphBuilder& b, const Op& op) {
  const int64_t count = std::ssize(op.operands), dim = op.attrs().integer("dimension");
  const std::vector<const Op*> moves = moves_of_slice(op.operand(0));
  if (count < 2 || moves.empty()) return nullptr;
  Value* whole = moves.back()->operand(0);
  for (int64_t k = 0; k < count; ++k) {
    const std::vector<const Op*> others = moves_of_slice(op.operand(static_cast<int>(k)));
    const bool are_alike =
        std::ranges::equal(moves, others, [](const Op* x, const Op* y) { return moves_alike(*x, *y); });
    if (!are_alike || others.back()->operand(0) != whole || !is_part(*others.back(), k, count)) return nullptr;
  }
  const auto of_all = [&](const Shape& shape) {
    Shape all{count};
    all.insert(all.end(), shape.begin(), shape.end());
    return all;
  };
  Value* all = ops::reshape(b, whole, of_all(shape_of(moves.back()->result())));
  for (auto move = moves.rbegin() + 1; move != moves.rend(); ++move) {
    if ((*move)->is(kReshape)) {
      all = ops::reshape(b, all, of_all(shape_of((*move)->result())));
    } else {
      Ints permutation{0};
      for (const int64_t from : (*move)->attrs().ints("permutation")) permutation.push_back(from + 1);
      all = ops::transpose(b, all, permutation);
    }
  }
  Ints before(shape_of(all).size() - 1);
  std::iota(before.begin(), before.end(), 1);
  before.insert(before.begin() + dim, 0);
  return ops::reshape(b, ops::transpose(b, all, before), shape_of(op.result()));
}

constexpr SimplifyRule kMoveRules[] = {
    {nullptr, "move(splat) == splat, reshape(constant) == constant", moved_splat},
    {&kReshape, "reshape x to its own shape == x", reshape_to_same},
    {&kReshape, "reshape(reshape x) == reshape x", reshape_reshaped},
    {&kTranspose, "transpose in order == x", transpose_nothing},
    {&kTranspose, "transpose(transpose x) == transpose x", transpose_transposed},
    {&kTranspose, "transpose that moves unit dimensions only == reshape", transpose_unit_dims},
    {&kBroadcastInDim, "broadcast that only adds unit dimensions == reshape", broadcast_nothing},
    {&kBroadcastInDim, "broadcast(broadcast x) == broadcast x", broadcast_broadcast},
    {&kBroadcastInDim, "broadcast(reshape x) == broadcast x, when the reshape adds unit dimensions",
     broadcast_reshaped},
    {&kBroadcastInDim, "broadcast(transpose x) == broadcast x", broadcast_transposed},
    {&kSlice, "slice of everything == x", slice_whole},
    {&kSlice, "slice(slice x) == slice x", slice_sliced},
    {&kSlice, "slice within one piece of a concatenate == slice of the piece", slice_of_concatenate},
    {&kDynamicSlice, "dynamic_slice at constants == slice", dynamic_slice_constant},
    {&kDynamicUpdateSlice, "update of everything == the update", update_whole},
    {&kSelect, "select(update of false by true, update by x, y) == update of y by x", select_updated},
    {&kAdd, "x + update of 0 == update of x by the sum, but for the sign of a 0 outside", add_to_window},
    {&kPad, "pad by nothing == x", pad_nothing},
    {&kPad, "pad by nothing positive == slice", pad_negative},
    {&kReverse, "reverse of dimensions of extent 1 == x", reverse_nothing},
    {&kReverse, "reverse(reverse x) == x, same dimensions", reverse_reversed},
    {&kConcatenate, "concatenate of one == x", concatenate_one},
    {&kConcatenate, "concatenate(concatenate(x, y), z) == concatenate(x, y, z); empty pieces go", concatenate_flat},
    {&kConcatenate, "concatenate of all parts of x, moved alike == transpose of x", concatenate_parts},
};

}  // namespace

std::span<const SimplifyRule> move_rules() { return kMoveRules; }

}  // namespace ingot
