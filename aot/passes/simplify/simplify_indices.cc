// Index vectors of gather and scatter.
#include <algorithm>
#include <optional>

#include "aot/base/contains.h"
#include "aot/ops/support/dimension_numbers.h"
#include "aot/ops/support/region.h"
#include "aot/ops/support/update.h"
#include "aot/passes/simplify/simplify_rules.h"

namespace ingot {
namespace {

using Ints = std::vector<int64_t>;

// The dimension along which `value` counts from 0, and along which alone it changes.
std::optional<int64_t> counted_dim(const Value* value) {
  const Shape& shape = value->type.shape;
  const Value* source = value;
  while (const Value* inner = ops::without_unit_dims(source)) source = inner;
  const Op* iota = made_by(source, kIota);
  if (!iota) return std::nullopt;
  const int64_t dim = iota->attrs().integer("iota_dimension");
  if (source->type.shape[dim] == 1 || info(source->type.dtype).bits < 32) return std::nullopt;
  const auto longer = [](const Shape& all, int64_t end) {
    return std::count_if(all.begin(), all.begin() + end, [](int64_t extent) { return extent != 1; });
  };
  const int64_t before = longer(source->type.shape, dim);
  for (int64_t d = 0; d < std::ssize(shape); ++d) {
    if (shape[d] != 1 && longer(shape, d) == before) return d;
  }
  return std::nullopt;
}

// The indices and dimensions of a gather or scatter without a component that counts a dimension of the indices.
struct Batched {
  Value* indices;
  ops::IndexedDims dims;
};

void add_batch_dim(ops::IndexedDims& dims, int64_t operand_dim, int64_t indices_dim) {
  const auto at = std::ranges::lower_bound(dims.operand_batch, operand_dim);
  dims.indices_batch.insert(dims.indices_batch.begin() + (at - dims.operand_batch.begin()), indices_dim);
  dims.operand_batch.insert(at, operand_dim);
  std::erase(dims.dropped_dims, operand_dim);
  std::erase(dims.index_map, operand_dim);
}

std::optional<Batched> without_counted(GraphBuilder& b, const Op& op, ops::IndexedDims dims) {
  const Op* parts = made_by(op.operand(1), kConcatenate);
  if (!parts || parts->attrs().integer("dimension") != dims.index_vector_dim) return std::nullopt;
  const Shape& extents = op.operand(0)->type.shape;
  const Ints index_map = dims.index_map;
  Values left;
  size_t component = 0;
  for (Value* part : parts->operands) {
    const int64_t operand_dim = index_map[component];
    const int64_t width = part->type.shape[dims.index_vector_dim];
    component += static_cast<size_t>(width);
    const std::optional<int64_t> dim = width == 1 ? counted_dim(part) : std::nullopt;
    const bool is_batch = dim && contains(dims.dropped_dims, operand_dim) && !contains(dims.indices_batch, *dim) &&
                          part->type.shape[*dim] == extents[operand_dim];
    if (is_batch) {
      add_batch_dim(dims, operand_dim, *dim);
    } else {
      left.push_back(part);
    }
  }
  if (left.empty() || left.size() == parts->operands.size()) return std::nullopt;
  return Batched{left.size() == 1 ? left[0] : ops::concatenate(b, left, dims.index_vector_dim), std::move(dims)};
}

Value* batch_gather(GraphBuilder& b, const Op& op) {
  const std::optional<Batched> batched = without_counted(b, op, ops::read_gather_dims(op.attrs()));
  if (!batched) return nullptr;
  return ops::gather(b, op.operand(0), batched->indices, batched->dims, op.attrs().ints("slice_sizes"));
}

Value* batch_scatter(GraphBuilder& b, const Op& op) {
  if (op.operands.size() != 3) return nullptr;
  const OpDef* combined = ops::binary_region_op(op.region());
  if (!combined && ops::returned_argument(op.region()) != 1) return nullptr;
  const std::optional<Batched> batched = without_counted(b, op, ops::read_scatter_dims(op.attrs()));
  if (!batched) return nullptr;
  return ops::scatter(b, combined, op.operand(0), batched->indices, op.operand(2), batched->dims);
}

constexpr SimplifyRule kIndexRules[] = {
    {&kGather, "gather at (iota, i) == gather at i, batched", batch_gather},
    {&kScatter, "scatter at (iota, i) == scatter at i, batched", batch_scatter},
};

}  // namespace

std::span<const SimplifyRule> index_rules() { return kIndexRules; }

}  // namespace ingot
