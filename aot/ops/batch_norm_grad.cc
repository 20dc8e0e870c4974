// stablehlo.batch_norm_grad: the gradients of batch_norm_training's operands.
//
// Ioffe and Szegedy, "Batch Normalization" (2015), section 3.
#include <cmath>

#include "aot/ops/support/algebra.h"
#include "aot/ops/support/batch_norm.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::batch_norm_grad_op {
namespace {

enum Operand { kX, kScale, kMean, kVariance, kDy, kOperands };

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, kOperands);
  ops::check_features(args, kVariance);
  const TensorType& x = args.operands[kX];
  if (args.operands[kDy] != x) args.fail(to_string(args.operands[kDy]) + " is not of the type " + to_string(x));
  return {x, args.operands[kScale], args.operands[kScale]};
}

// With n elements of a feature, c = x - mean and s = √(variance + ε):
//   doffset = Σ dy,  dscale = Σ dy c / s,  dx = scale / s (dy - Σ dy / n - c / s² Σ dy c / n)
std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& x = args.inputs[kX];
  const std::vector<double>& dy = args.inputs[kDy].f;
  const double epsilon = args.attrs().number("epsilon");
  const int64_t feature_index = args.attrs().integer("feature_index");
  const auto count = static_cast<double>(ops::elements_of_feature(args.op));
  RefTensor dx(args.result_type(0)), dscale(args.result_type(1)), doffset(args.result_type(2));
  const auto centered = [&](int64_t k, int64_t c) { return x.f[k] - args.inputs[kMean].f[c]; };
  const auto squared_deviation = [&](int64_t c) { return args.inputs[kVariance].f[c] + epsilon; };
  std::vector<double> products(dscale.f.size());
  ops::for_each_index(x.type.shape, [&](const Shape& at, int64_t k) {
    const int64_t c = at[feature_index];
    doffset.f[c] += dy[k];
    products[c] += dy[k] * centered(k, c);
  });
  for (size_t c = 0; c < products.size(); ++c) dscale.f[c] = products[c] / std::sqrt(squared_deviation(c));
  ops::for_each_index(x.type.shape, [&](const Shape& at, int64_t k) {
    const int64_t c = at[feature_index];
    const double apart = dy[k] - doffset.f[c] / count - centered(k, c) / squared_deviation(c) * products[c] / count;
    dx.f[k] = args.inputs[kScale].f[c] / std::sqrt(squared_deviation(c)) * apart;
  });
  return {dx, dscale, doffset};
}

Values expand(ExpandArgs& args) {
  const ops::FeatureAlgebra features(args.b, args.op);
  const auto operand = [&](int i) { return features.wide(args.operand(i)); };
  const auto count = static_cast<double>(features.count());
  const Term dy = operand(kDy), squared_deviation = operand(kVariance) + args.attrs().number("epsilon");
  const Term deviation = squared_deviation.unary(kSqrt);
  const Term mean = features.repeat(operand(kMean));
  const Term centered = operand(kX) - mean;
  const Term doffset = features.sum(dy), products = features.sum(dy * centered);
  const Term mean_dy = features.repeat(doffset / count);
  const Term slope = features.repeat(products / squared_deviation / count);
  const Term factor = features.repeat(operand(kScale) / deviation);
  const Term dx = factor * (dy - mean_dy - centered * slope);
  return {features.narrow(dx), features.narrow(products / deviation), features.narrow(doffset)};
}

std::vector<Sample> samples() {
  const auto sample = [](const std::string& shape, const std::string& features, int feature_index) {
    const std::string x = "tensor<" + shape + ">", vector = "tensor<" + features + ">";
    const std::string results = x + ", " + vector + ", " + vector;
    return Sample{.text = "func.func @main(%x: " + x + ", %scale: " + vector + ", %mean: " + vector +
                          ", %variance: " + vector + ", %dy: " + x + ") -> (" + results +
                          ") {\n  %0:3 = \"stablehlo.batch_norm_grad\"(%x, %scale, %mean, %variance, %dy) <{epsilon = "
                          "0.001 : f32, feature_index = " +
                          std::to_string(feature_index) + " : i64}> : (" + x + ", " + vector + ", " + vector + ", " +
                          vector + ", " + x + ") -> (" + results + ")\n  return %0#0, %0#1, %0#2 : " + results +
                          "\n}\n",
                  .low = 0.5};
  };
  return {sample("7x3xf32", "3xf32", 1), sample("2x5x3x7xf64", "5xf64", 1), sample("3x2x4xf32", "3xf32", 0),
          sample("4x3xbf16", "3xbf16", 1)};
}

}  // namespace

extern const OpDef kBatchNormGrad = {
    .name = "stablehlo.batch_norm_grad",
    .doc = "The gradients of batch_norm_training's operands for its statistics and the gradient of its result.",
    .infer = infer,
    .evaluate = evaluate,
    .expand = expand,
    .samples = samples,
    .root = KernelRoot::kNone,
    .ulp = {.f32 = 8, .f64 = 8, .half = 4},
};

}  // namespace ingot::batch_norm_grad_op
