// stablehlo.batch_norm_inference: every feature shifted and scaled by given statistics.
//
// Ioffe and Szegedy, "Batch Normalization" (2015), algorithm 2.
#include <cmath>

#include "aot/ops/support/batch_norm.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::batch_norm_inference_op {
namespace {

enum Operand { kX, kScale, kOffset, kMean, kVariance, kOperands };

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, kOperands);
  ops::check_features(args, kOperands - 1);
  return {args.operands[kX]};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& x = args.inputs[kX];
  const double epsilon = args.attrs().number("epsilon");
  const int64_t feature_index = args.attrs().integer("feature_index");
  RefTensor y(args.result_type());
  ops::for_each_index(x.type.shape, [&](const Shape& at, int64_t k) {
    const int64_t c = at[feature_index];
    const double normal = (x.f[k] - args.inputs[kMean].f[c]) / std::sqrt(args.inputs[kVariance].f[c] + epsilon);
    y.f[k] = args.inputs[kScale].f[c] * normal + args.inputs[kOffset].f[c];
  });
  return {y};
}

// y = (x - mean) scale / √(variance + ε) + offset
Values expand(ExpandArgs& args) {
  const ops::FeatureAlgebra features(args.b, args.op);
  const Term x(args.b, args.operand(kX)), variance(args.b, args.operand(kVariance));
  const auto feature = [&](int i) { return features.repeat(args.operand(i)); };
  const Term mean = feature(kMean);
  const Term deviation = features.repeat((variance + args.attrs().number("epsilon")).unary(kSqrt));
  const Term scale = feature(kScale), offset = feature(kOffset);
  return {(x - mean) / deviation * scale + offset};
}

std::vector<Sample> samples() {
  const auto sample = [](const std::string& x, const std::string& features, int feature_index) {
    const std::string type = "tensor<" + features + ">";
    return Sample{.text = ops::single_op("%x: tensor<" + x + ">, %scale: " + type + ", %offset: " + type +
                                             ", %mean: " + type + ", %variance: " + type,
                                         "\"stablehlo.batch_norm_inference\"(%x, %scale, %offset, %mean, %variance) "
                                         "<{epsilon = 0.001 : f32, feature_index = " +
                                             std::to_string(feature_index) + " : i64}> : (tensor<" + x + ">, " + type +
                                             ", " + type + ", " + type + ", " + type + ") -> tensor<" + x + ">",
                                         "tensor<" + x + ">"),
                  .low = 0.5};
  };
  return {sample("4x3xf32", "3xf32", 1), sample("2x5x3x7xf64", "5xf64", 1), sample("3x2x4xf32", "3xf32", 0),
          sample("2x3xbf16", "3xbf16", 1), sample("0x3xf32", "3xf32", 1)};
}

}  // namespace

extern const OpDef kBatchNormInference = {
    .name = "stablehlo.batch_norm_inference",
    .doc = "Normalises every feature of x by a given mean and variance, then scales and shifts it.",
    .infer = infer,
    .evaluate = evaluate,
    .expand = expand,
    .samples = samples,
    .root = KernelRoot::kNone,
    .ulp = {.f32 = 4, .f64 = 4, .half = 4},
};

}  // namespace ingot::batch_norm_inference_op
