// stablehlo.real_dynamic_slice: the elements from a start to a limit by a stride, all of which operands say.
#include <algorithm>

#include "aot/ops/support/dynamic.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/known_value.h"

namespace ingot::real_dynamic_slice_op {
namespace {

enum Operand { kX, kStart, kLimit, kStrides, kOperands };
constexpr int kDepthMax = 20;  // JAX's arithmetic on a start has about five ops one after the other

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, kOperands);
  const int rank = args.operands[kX].rank();
  ops::check_int_list(args, kStart, "the start", rank);
  ops::check_int_list(args, kLimit, "the limit", rank);
  ops::check_int_list(args, kStrides, "the strides", rank);
  return {ops::declared_like(args, args.operands[kX])};
}

// Whether two values are made alike.
bool same(const Value* x, const Value* y, int depth = 0) {
  if (x == y) return true;
  if (!x->op || !y->op || x->op->def != y->op->def || x->index != y->index || depth > kDepthMax) return false;
  const Op &p = *x->op, &q = *y->op;
  return p.regions.empty() && !p.def->has_side_effect && p.attr_map == q.attr_map && x->type == y->type &&
         std::ranges::equal(p.operands, q.operands,
                            [&](const Value* a, const Value* b) { return same(a, b, depth + 1); });
}

// The sizes of a slice whose limit is its start and a known number more.
std::optional<Shape> known_sizes(const Op& op) {
  const Op* limit = op.operand(kLimit)->op;
  if (!limit || !limit->is(kAdd)) return std::nullopt;
  for (const int side : {0, 1}) {
    if (!same(limit->operand(side), op.operand(kStart))) continue;
    if (const auto size = ops::known_value(limit->operand(1 - side))) return size->i;
  }
  return std::nullopt;
}

// A start that is not known before the program runs is fine where the result's shape is.
Value* make(GraphBuilder& b, const Op& op, const Values& operands, const ops::DynamicOperands& known) {
  const TensorType& type = op.result()->type;
  const std::vector<int64_t> strides = known.ints(kStrides);
  const bool has_unit_strides = std::ranges::all_of(strides, [](int64_t stride) { return stride == 1; });
  const std::optional<Shape> sizes = type.is_static() ? type.shape : known_sizes(op);
  if (known.is_known(kStart) || !sizes || !has_unit_strides) {
    return ops::slice(b, operands[kX], known.ints(kStart), known.ints(kLimit), strides);
  }
  Values starts;
  for (int64_t d = 0; d < type.rank(); ++d) {
    starts.push_back(ops::reshape(b, ops::slice(b, operands[kStart], {d}, {d + 1}, {1}), {}));
  }
  return ops::dynamic_slice(b, operands[kX], starts, *sizes);
}

std::vector<Sample> samples() {
  const std::string types = " : (tensor<5x7xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> ";
  return {
      ops::dynamic_sample("%x: tensor<5x7xf32>",
                          "  %start = stablehlo.constant dense<[1, 2]> : tensor<2xi64>\n"
                          "  %limit = stablehlo.constant dense<[5, 7]> : tensor<2xi64>\n"
                          "  %strides = stablehlo.constant dense<[1, 2]> : tensor<2xi64>\n"
                          "  %r = stablehlo.real_dynamic_slice %x, %start, %limit, %strides" +
                              types + "tensor<4x3xf32>",
                          "tensor<4x3xf32>"),
      // A start that the program computes.
      ops::dynamic_sample("%x: tensor<5x7xf32>, %n: tensor<2xi64>",
                          "  %one = stablehlo.constant dense<1> : tensor<2xi64>\n"
                          "  %start = stablehlo.and %n, %one : tensor<2xi64>\n"
                          "  %size = stablehlo.constant dense<[4, 6]> : tensor<2xi64>\n"
                          "  %limit = stablehlo.add %start, %size : tensor<2xi64>\n"
                          "  %r = stablehlo.real_dynamic_slice %x, %start, %limit, %one" +
                              types + "tensor<4x6xf32>",
                          "tensor<4x6xf32>"),
  };
}

}  // namespace

extern const OpDef kRealDynamicSlice = ops::dynamic<make>({
    .name = "stablehlo.real_dynamic_slice",
    .doc = "The elements of x from start to limit by strides, which operands say.",
    .assembly = "operands attr-dict :functional",
    .infer = infer,
    .samples = samples,
});

}  // namespace ingot::real_dynamic_slice_op
