// Linear models as scikit-learn's exporter writes them: ops of ai.onnx.ml whose coefficients are attributes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "aot/base/file.h"
#include "aot/frontend/onnx/import.h"
#include "tests/support/error_of.h"
#include "tests/support/onnx_run.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/temporary_folder.h"

namespace ingot {
namespace {

class OnnxLinearModels : public testing::Test {
 protected:
  static constexpr int64_t kRows = 5, kFeatures = 3, kClasses = 4;
  static inline const std::vector<float> kCoefficients = {0.5F, -1, 2, 1, 0.25F, -0.75F, -2, 1.5F, 0.125F, 1, 1, -1};
  static inline const std::vector<float> kIntercepts = {1, -0.5F, 0, 2};

  // One node of x, whose outputs are `outputs`.
  onnx::Imported import(const std::string& op, const std::vector<std::string>& attributes,
                        const OnnxNames& outputs = {"y"}) const {
    OnnxGraph graph;
    graph.input("x", kF32, {kRows, kFeatures});
    graph.node(op, {"x"}, outputs, attributes, "ai.onnx.ml");
    for (const std::string& output : outputs) graph.output(output, output == "label" ? kI64 : kF32, {});
    write_file(folder_.file("model.onnx"), onnx_model(graph, 18));
    return onnx::import_model(folder_.file("model.onnx"), {});
  }
  auto run(const std::string& op, const std::vector<std::string>& attributes, const OnnxNames& outputs = {"y"}) const {
    ReferenceExecutor executor;
    const onnx::Imported imported = import(op, attributes, outputs);
    return run_imported(imported, executor, {{"x", x_}});
  }
  std::string refused(const std::string& op, const std::vector<std::string>& attributes,
                      const OnnxNames& outputs = {"y"}) const {
    return error_of([&] { import(op, attributes, outputs); });
  }
  double x(int64_t row, int64_t feature) const { return x_.f[row * kFeatures + feature]; }
  double score(int64_t row, int64_t k) const {
    double sum = kIntercepts[k];
    for (int64_t i = 0; i < kFeatures; ++i) sum += x(row, i) * kCoefficients[k * kFeatures + i];
    return sum;
  }

  const TemporaryFolder folder_;
  const RefTensor x_ =
      tensor_of_values({DType::kF32, {kRows, kFeatures}}, {1, -2, 0.5, 0, 0, 0, 3, 1, -4, -1, -1, -2, 0.25, 8, 2});
};

TEST_F(OnnxLinearModels, RegressorsGiveANumberForEachTarget) {
  const auto results =
      run("LinearRegressor", {onnx_floats("coefficients", kCoefficients), onnx_floats("intercepts", kIntercepts),
                              onnx_integer("targets", kClasses)});
  for (int64_t k = 0; k < kRows * kClasses; ++k)
    EXPECT_FLOAT_EQ(results.at("y").f[k], score(k / kClasses, k % kClasses));
}

TEST_F(OnnxLinearModels, ClassifiersGiveLabelsAndProbabilities) {
  const std::vector<int64_t> labels = {7, -3, 40, 5};
  for (const std::string transform : {"NONE", "SOFTMAX", "LOGISTIC"}) {
    SCOPED_TRACE(transform);
    const auto results = run("LinearClassifier",
                             {onnx_floats("coefficients", kCoefficients), onnx_floats("intercepts", kIntercepts),
                              onnx_integers("classlabels_ints", labels), onnx_text("post_transform", transform)},
                             {"label", "y"});
    for (int64_t row = 0; row < kRows; ++row) {
      std::vector<double> scores(kClasses);
      for (int64_t k = 0; k < kClasses; ++k) scores[k] = score(row, k);
      EXPECT_EQ(results.at("label").i[row], labels[std::ranges::max_element(scores) - scores.begin()]);
      double sum = 0;
      for (const double s : scores) sum += std::exp(s);
      for (int64_t k = 0; k < kClasses; ++k) {
        const double expected = transform == "NONE"      ? scores[k]
                                : transform == "SOFTMAX" ? std::exp(scores[k]) / sum
                                                         : 1 / (1 + std::exp(-scores[k]));
        EXPECT_NEAR(results.at("y").f[row * kClasses + k], expected, 1e-6);
      }
    }
  }
}

TEST_F(OnnxLinearModels, FeaturesAreScaled) {
  const auto each = run("Scaler", {onnx_floats("offset", {1, 2, 3}), onnx_floats("scale", {2, 0.5F, -1})});
  const auto all = run("Scaler", {onnx_floats("offset", {1}), onnx_floats("scale", {4})});
  const double scales[] = {2, 0.5, -1};
  for (int64_t k = 0; k < kRows * kFeatures; ++k) {
    EXPECT_EQ(each.at("y").f[k], (x_.f[k] - static_cast<double>(k % kFeatures + 1)) * scales[k % kFeatures]);
    EXPECT_EQ(all.at("y").f[k], (x_.f[k] - 1) * 4);
  }
}

TEST_F(OnnxLinearModels, RowsAreNormalizedButThoseOfZeros) {
  for (const std::string norm : {"MAX", "L1", "L2"}) {
    SCOPED_TRACE(norm);
    const auto results = run("Normalizer", {onnx_text("norm", norm)});
    for (int64_t row = 0; row < kRows; ++row) {
      double length = norm == "MAX" ? x(row, 0) : 0;
      for (int64_t i = 0; i < kFeatures; ++i) {
        const double value = x(row, i);
        length = norm == "MAX" ? std::max(length, value) : length + (norm == "L1" ? std::abs(value) : value * value);
      }
      if (norm == "L2") length = std::sqrt(length);
      for (int64_t i = 0; i < kFeatures; ++i)
        EXPECT_FLOAT_EQ(results.at("y").f[row * kFeatures + i], length == 0 ? 0 : x(row, i) / length);
    }
  }
}

TEST_F(OnnxLinearModels, WhatIsWrongOrNotSupportedIsNamed) {
  const std::string coefficients = onnx_floats("coefficients", kCoefficients);
  EXPECT_NE(refused("LinearRegressor", {coefficients, onnx_integer("targets", 3)})
                .find("coefficients has 12 numbers for 3 results of 3 features"),
            std::string::npos);
  EXPECT_NE(refused("LinearRegressor",
                    {coefficients, onnx_integer("targets", kClasses), onnx_text("post_transform", "PROBIT")})
                .find("post_transform is PROBIT"),
            std::string::npos);
  EXPECT_NE(refused("LinearClassifier", {coefficients, onnx_texts("classlabels_strings", {"a", "b", "c", "d"})},
                    {"label", "y"})
                .find("its labels are strings"),
            std::string::npos);
  EXPECT_NE(refused("LinearClassifier",
                    {onnx_floats("coefficients", {1, 2, 3}), onnx_integers("classlabels_ints", {0, 1})}, {"label", "y"})
                .find("for one of its two classes"),
            std::string::npos);
  EXPECT_NE(refused("Scaler", {onnx_floats("scale", {1, 2})}).find("scale has 2 numbers for 3 features"),
            std::string::npos);
  EXPECT_NE(refused("Normalizer", {onnx_text("norm", "L3")}).find("norm is L3"), std::string::npos);
}

}  // namespace
}  // namespace ingot
