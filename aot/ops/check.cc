// check.*: expectations in conformance programs. They compute nothing;
// a runner of such programs compares their operands.
//   expect_eq, expect_eq_const                same bits (any NaN for a NaN)
//   expect_almost_eq, expect_almost_eq_const  within `tolerance` (0.0001 when absent)
//   expect_serialized_eq                      same bits as interpreter.probe of that probe_id saw
//   expect_close                              min_ulp_difference <= units in the last place <= max_ulp_difference
//                                             (0 and 3 when absent)
#include <algorithm>

#include "aot/graph/op.h"
#include "aot/graph/quantization.h"

namespace ingot::check_op {
namespace {

void check_operands(const InferArgs& args, size_t count) {
  if (args.operands.size() != count) args.fail("has the wrong number of operands");
  if (args.operands.front() != args.operands.back()) {
    args.fail("compares " + to_string(args.operands.front()) + " with " + to_string(args.operands.back()));
  }
}

std::vector<TensorType> infer_pair(const InferArgs& args) {
  check_operands(args, 2);
  return {};
}

std::vector<TensorType> infer_const(const InferArgs& args) {
  check_operands(args, 1);
  const TensorType& expected = args.attrs().literal("value")->type;
  const TensorType& actual = args.operands[0];
  if (expected != (actual.quantization ? storage_type(actual) : actual)) {
    args.fail("compares " + to_string(args.operands[0]) + " with " + to_string(expected));
  }
  return {};
}

std::vector<TensorType> infer_one(const InferArgs& args) {
  check_operands(args, 1);
  return {};
}

std::vector<RefTensor> nothing(const EvaluateArgs&) { return {}; }

std::vector<Sample> pair_samples(const char* rest) {
  return {{.text = std::string("func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n  ") + rest +
                   "\n  return %x : tensor<3xf32>\n}\n"}};
}

template <size_t kLength>
struct Text {
  char text[kLength];
  constexpr Text(const char (&from)[kLength]) { std::copy_n(from, kLength, text); }
};
template <Text kRest>
std::vector<Sample> samples() {
  return pair_samples(kRest.text);
}

constexpr OpDef check(std::string_view name, std::string_view doc, std::string_view assembly,
                      std::vector<TensorType> (*infer)(const InferArgs&), std::vector<Sample> (*samples)()) {
  OpDef def;
  def.name = name;
  def.doc = doc;
  def.assembly = assembly;
  def.infer = infer;
  def.evaluate = nothing;
  def.samples = samples;
  def.zero_gradient = true;
  def.root = KernelRoot::kNone;
  def.has_side_effect = true;
  def.infers_dynamic_shapes = true;
  def.infer_sees_quantized = true;
  return def;
}

}  // namespace

extern const OpDef kCheckExpectEq =
    check("check.expect_eq", "Expects two tensors to have the same bits.", "operands attr-dict :same", infer_pair,
          samples<"check.expect_eq %x, %x : tensor<3xf32>">);

extern const OpDef kCheckExpectEqConst =
    check("check.expect_eq_const", "Expects the bits of a literal.", "operands `,` literal(value) attr-dict",
          infer_const, samples<"check.expect_eq_const %x, dense<1.0> : tensor<3xf32>">);

extern const OpDef kCheckExpectAlmostEq =
    check("check.expect_almost_eq", "Expects two tensors within a tolerance.",
          "operands (`,` `tolerance` `=` float(tolerance))? attr-dict :same", infer_pair,
          samples<"check.expect_almost_eq %x, %x, tolerance = 0.1 : tensor<3xf32>">);

extern const OpDef kCheckExpectAlmostEqConst = check(
    "check.expect_almost_eq_const", "Expects a literal within a tolerance.", "operands `,` literal(value) attr-dict",
    infer_const, samples<"check.expect_almost_eq_const %x, dense<1.0> : tensor<3xf32>">);

extern const OpDef kCheckExpectClose =
    check("check.expect_close", "Expects two tensors within units in the last place.",
          "operands (`,` `max_ulp_difference` `=` int(max_ulp_difference))? (`,` `min_ulp_difference` `=` "
          "int(min_ulp_difference))? attr-dict :operands",
          infer_pair, samples<"check.expect_close %x, %x, max_ulp_difference = 3 : tensor<3xf32>, tensor<3xf32>">);

extern const OpDef kCheckExpectSerializedEq =
    check("check.expect_serialized_eq", "Expects what a probe saw.",
          "operands `,` `probe_id` `=` string(probe_id) (`,` `iter` `=` int(iter))? attr-dict :same", infer_one,
          samples<"check.expect_serialized_eq %x, probe_id = \"x\" : tensor<3xf32>">);

}  // namespace ingot::check_op
