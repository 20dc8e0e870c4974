// stablehlo.batch_norm_training: every feature shifted and scaled by its own statistics, and these.
//
// Ioffe and Szegedy, "Batch Normalization" (2015), algorithm 1.
#include <cmath>

#include "aot/ops/support/algebra.h"
#include "aot/ops/support/batch_norm.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::batch_norm_training_op {
namespace {

enum Operand { kX, kScale, kOffset, kOperands };
enum Result { kY, kMean, kVariance };

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, kOperands);
  ops::check_features(args, kOperands - 1);
  return {args.operands[kX], args.operands[kScale], args.operands[kScale]};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& x = args.inputs[kX];
  const double epsilon = args.attrs().number("epsilon");
  const int64_t feature_index = args.attrs().integer("feature_index");
  RefTensor y(args.result_type(kY)), mean(args.result_type(kMean)), variance(args.result_type(kVariance));
  const auto count = static_cast<double>(ops::elements_of_feature(args.op));
  const auto for_each = [&](const auto& body) {
    ops::for_each_index(x.type.shape, [&](const Shape& at, int64_t k) { body(k, at[feature_index]); });
  };
  const auto divide = [&](RefTensor& sums) {
    for (double& sum : sums.f) sum /= count;
  };
  for_each([&](int64_t k, int64_t c) { mean.f[c] += x.f[k]; });
  divide(mean);
  for_each([&](int64_t k, int64_t c) { variance.f[c] += (x.f[k] - mean.f[c]) * (x.f[k] - mean.f[c]); });
  divide(variance);
  for_each([&](int64_t k, int64_t c) {
    const double normal = (x.f[k] - mean.f[c]) / std::sqrt(variance.f[c] + epsilon);
    y.f[k] = args.inputs[kScale].f[c] * normal + args.inputs[kOffset].f[c];
  });
  return {y, mean, variance};
}

// mean = Σ x / n,  variance = Σ (x - mean)² / n,  y = (x - mean) scale / √(variance + ε) + offset
Values expand(ExpandArgs& args) {
  GraphBuilder& b = args.b;
  const ops::FeatureAlgebra features(b, args.op);
  const Term x = features.wide(args.operand(kX)), scale = features.wide(args.operand(kScale)),
             offset = features.wide(args.operand(kOffset));
  const Term mean = features.mean(x);
  const Term centered = x - features.repeat(mean);
  const Term variance = features.mean(square(centered));
  const Term deviation = features.repeat((variance + args.attrs().number("epsilon")).unary(kSqrt));
  const Term repeated_scale = features.repeat(scale), repeated_offset = features.repeat(offset);
  const Term y = centered / deviation * repeated_scale + repeated_offset;
  return {features.narrow(y), features.narrow(mean), features.narrow(variance)};
}

// What comes by way of y is batch_norm_grad's; and
//   dx += (dmean + 2 (x - mean) dvariance) / n
Values gradient(GradientArgs& args) {
  GraphBuilder& b = args.b;
  const ops::FeatureAlgebra features(b, args.op);
  const auto count = static_cast<double>(features.count());
  Value* x = args.operand(kX);
  Values gradients(kOperands);
  const auto add_to_dx = [&](Value* more) { gradients[kX] = gradients[kX] ? ops::add(b, gradients[kX], more) : more; };
  if (args.dy(kY)) {
    const Op* back =
        b.create(kBatchNormGrad, {x, args.operand(kScale), args.result(kMean), args.result(kVariance), args.dy(kY)},
                 args.op.attr_map);
    gradients = {back->result(0), back->result(1), back->result(2)};
  }
  if (args.dy(kMean)) add_to_dx(features.repeat(Term(b, args.dy(kMean)) / count));
  if (args.dy(kVariance)) {
    const Term centered = Term(b, x) - features.repeat(args.result(kMean));
    add_to_dx(centered * features.repeat(Term(b, args.dy(kVariance)) * (2 / count)));
  }
  return gradients;
}

std::vector<Sample> samples() {
  const auto sample = [](const std::string& shape, const std::string& features, int feature_index) {
    const std::string x = "tensor<" + shape + ">", vector = "tensor<" + features + ">";
    const std::string types = x + ", " + vector + ", " + vector;
    return Sample{.text = "func.func @main(%x: " + x + ", %scale: " + vector + ", %offset: " + vector + ") -> (" +
                          types + ") {\n  %0:3 = \"stablehlo.batch_norm_training\"(%x, %scale, %offset) <{epsilon = " +
                          "0.001 : f32, feature_index = " + std::to_string(feature_index) + " : i64}> : (" + types +
                          ") -> (" + types + ")\n  return %0#0, %0#1, %0#2 : " + types + "\n}\n"};
  };
  return {sample("7x3xf32", "3xf32", 1), sample("2x5x3x7xf64", "5xf64", 1), sample("3x2x4xf32", "3xf32", 0),
          sample("4x3xbf16", "3xbf16", 1)};
}

}  // namespace

extern const OpDef kBatchNormTraining = {
    .name = "stablehlo.batch_norm_training",
    .doc = "Normalises every feature of x by its mean and variance, then scales and shifts it; and these statistics.",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .expand = expand,
    .samples = samples,
    .root = KernelRoot::kNone,
    .ulp = {.f32 = 8, .f64 = 8, .half = 4},
};

}  // namespace ingot::batch_norm_training_op
