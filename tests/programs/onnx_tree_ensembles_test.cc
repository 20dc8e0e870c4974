// Sums of decision trees as exporters of scikit-learn, XGBoost and LightGBM write them, beside a walk down each tree.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "aot/base/file.h"
#include "aot/frontend/onnx/import.h"
#include "tests/support/error_of.h"
#include "tests/support/onnx_run.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/temporary_folder.h"

namespace ingot {
namespace {

constexpr int64_t kTreeRows = 9, kFeatures = 3;

struct Node {
  std::string mode = "LEAF";
  int64_t feature = 0, on_true = 0, on_false = 0, tracks = 0;
  float value = 0;
  std::vector<float> weights = {};  // of a leaf, one for each result
};
using Tree = std::vector<Node>;

bool goes_true(const Node& node, float x) {
  if (std::isnan(x) && node.tracks) return true;
  if (node.mode == "BRANCH_LEQ") return x <= node.value;
  if (node.mode == "BRANCH_LT") return x < node.value;
  if (node.mode == "BRANCH_GTE") return x >= node.value;
  if (node.mode == "BRANCH_GT") return x > node.value;
  return node.mode == "BRANCH_EQ" ? x == node.value : x != node.value;
}

// What a row's leaves of all trees add up to.
std::vector<double> sums_of(const std::vector<Tree>& trees, std::span<const double> x, int64_t width) {
  std::vector<double> sums(width);
  for (const Tree& tree : trees) {
    int64_t at = 0;
    while (tree[at].mode != "LEAF")
      at = goes_true(tree[at], static_cast<float>(x[tree[at].feature])) ? tree[at].on_true : tree[at].on_false;
    for (int64_t k = 0; k < width; ++k) sums[k] += tree[at].weights[k];
  }
  return sums;
}

class OnnxTreeEnsembles : public testing::Test {
 protected:
  int64_t draw(int64_t count) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(count)); }

  int64_t grow(Tree& tree, int levels, int64_t width, bool has_one_mode) {
    static const std::vector<std::string> modes = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                   "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
    const auto at = std::ssize(tree);
    tree.emplace_back();
    Node node;
    if (levels > 0 && draw(5) > 0) {
      node = {.mode = modes[has_one_mode ? 0 : draw(6)],
              .feature = draw(kFeatures),
              .tracks = draw(2),
              .value = 0.5F * static_cast<float>(draw(5)) - 1};
      node.on_true = grow(tree, levels - 1, width, has_one_mode);
      node.on_false = grow(tree, levels - 1, width, has_one_mode);
    } else {
      for (int64_t k = 0; k < width; ++k) node.weights.push_back(0.125F * static_cast<float>(draw(17)) - least_);
    }
    tree[at] = node;
    return at;
  }
  std::vector<Tree> forest(int64_t width, bool has_one_mode) {
    std::vector<Tree> trees(1 + draw(4));
    for (Tree& tree : trees) grow(tree, static_cast<int>(draw(6)), width, has_one_mode);
    return trees;
  }

  // The attributes that say so; nodes of a tree are numbered from 10 on.
  static std::vector<std::string> attributes(const std::vector<Tree>& trees, const std::string& kind) {
    std::vector<int64_t> tree_of, ids, features, on_true, on_false, tracks, leaf_trees, leaf_nodes, results;
    std::vector<float> values, weights;
    std::vector<std::string> modes;
    for (int64_t t = 0; t < std::ssize(trees); ++t) {
      for (int64_t i = 0; i < std::ssize(trees[t]); ++i) {
        const Node& node = trees[t][i];
        tree_of.push_back(t), ids.push_back(10 + i), features.push_back(node.feature), modes.push_back(node.mode);
        on_true.push_back(10 + node.on_true), on_false.push_back(10 + node.on_false), tracks.push_back(node.tracks);
        values.push_back(node.value);
        for (int64_t k = 0; k < std::ssize(node.weights); ++k) {
          leaf_trees.push_back(t), leaf_nodes.push_back(10 + i), results.push_back(k);
          weights.push_back(node.weights[k]);
        }
      }
    }
    return {onnx_integers("nodes_treeids", tree_of),
            onnx_integers("nodes_nodeids", ids),
            onnx_integers("nodes_featureids", features),
            onnx_texts("nodes_modes", modes),
            onnx_integers("nodes_truenodeids", on_true),
            onnx_integers("nodes_falsenodeids", on_false),
            onnx_integers("nodes_missing_value_tracks_true", tracks),
            onnx_floats("nodes_values", values),
            onnx_integers(kind + "_treeids", leaf_trees),
            onnx_integers(kind + "_nodeids", leaf_nodes),
            onnx_integers(kind + "_ids", results),
            onnx_floats(kind + "_weights", weights)};
  }

  onnx::Imported import(const std::string& op, std::vector<std::string> attributes,
                        const std::vector<std::string>& more) const {
    attributes.insert(attributes.end(), more.begin(), more.end());
    const bool is_classifier = op == "TreeEnsembleClassifier";
    OnnxGraph graph;
    graph.input("x", kF32, {kTreeRows, kFeatures});
    graph.node(op, {"x"}, is_classifier ? OnnxNames{"label", "y"} : OnnxNames{"y"}, attributes, "ai.onnx.ml");
    if (is_classifier) graph.output("label", kI64, {});
    graph.output("y", kF32, {});
    write_file(folder_.file("model.onnx"), onnx_model(graph, 18));
    return onnx::import_model(folder_.file("model.onnx"), {});
  }
  auto run(const std::string& op, const std::vector<std::string>& attributes, const std::vector<std::string>& more) {
    std::vector<double> values;
    for (int64_t i = 0; i < kTreeRows * kFeatures; ++i)
      values.push_back(draw(8) == 0 ? std::numeric_limits<double>::quiet_NaN()
                                    : 0.25 * static_cast<double>(draw(9)) - 1);
    x_ = tensor_of_values({DType::kF32, {kTreeRows, kFeatures}}, values);
    ReferenceExecutor executor;
    const onnx::Imported imported = import(op, attributes, more);
    return run_imported(imported, executor, {{"x", x_}});
  }
  std::vector<double> sums(const std::vector<Tree>& trees, int64_t row, int64_t width) const {
    return sums_of(trees, std::span<const double>(x_.f).subspan(row * kFeatures, kFeatures), width);
  }
  std::string refused(const std::string& op, const std::vector<std::string>& attributes,
                      const std::vector<std::string>& more = {}) const {
    return error_of([&] { import(op, attributes, more); });
  }

  const TemporaryFolder folder_;
  std::mt19937_64 random_{1};
  float least_ = 1;  // of which leaves have negative weights
  RefTensor x_;
};

TEST_F(OnnxTreeEnsembles, RegressorsAddLeavesUp) {
  for (int i = 0; i < 20; ++i) {
    const int64_t width = 1 + draw(3);
    const std::vector<Tree> trees = forest(width, i % 2 == 0);
    const bool is_mean = i % 3 == 0;
    const std::vector<float> base(width, 0.5F);
    const auto results = run("TreeEnsembleRegressor", attributes(trees, "target"),
                             {onnx_integer("n_targets", width), onnx_floats("base_values", base),
                              onnx_text("aggregate_function", is_mean ? "AVERAGE" : "SUM")});
    for (int64_t row = 0; row < kTreeRows; ++row) {
      const std::vector<double> expected = sums(trees, row, width);
      for (int64_t k = 0; k < width; ++k) {
        const double sum = expected[k] / (is_mean ? static_cast<double>(trees.size()) : 1) + 0.5;
        EXPECT_NEAR(results.at("y").f[row * width + k], sum, 1e-6) << i;
      }
    }
  }
}

TEST_F(OnnxTreeEnsembles, ClassifiersGiveLabelsAndScores) {
  const std::vector<int64_t> labels = {7, -3, 40};
  for (int i = 0; i < 10; ++i) {
    const std::vector<Tree> trees = forest(3, i % 2 == 0);
    const auto results = run("TreeEnsembleClassifier", attributes(trees, "class"),
                             {onnx_integers("classlabels_int64s", labels), onnx_text("post_transform", "NONE")});
    for (int64_t row = 0; row < kTreeRows; ++row) {
      const std::vector<double> expected = sums(trees, row, 3);
      for (int64_t k = 0; k < 3; ++k) EXPECT_FLOAT_EQ(results.at("y").f[row * 3 + k], expected[k]);
      EXPECT_EQ(results.at("label").i[row], labels[std::ranges::max_element(expected) - expected.begin()]);
    }
  }
}

// Scores and labels of two classes as ONNX Runtime 1.31 gives them.
TEST_F(OnnxTreeEnsembles, TwoClassesHaveOneScore) {
  for (const bool is_probability : {false, true}) {
    for (const std::string transform : {"NONE", "LOGISTIC"}) {
      SCOPED_TRACE(transform);
      least_ = is_probability ? 0 : 1;
      std::vector<Tree> trees = forest(1, true);
      while (!is_probability && std::ranges::all_of(trees[0], [](const Node& node) {
        return node.weights.empty() || node.weights[0] >= 0;
      })) {
        trees = forest(1, true);
      }
      const auto results = run("TreeEnsembleClassifier", attributes(trees, "class"),
                               {onnx_integers("classlabels_int64s", {4, 9}), onnx_text("post_transform", transform)});
      for (int64_t row = 0; row < kTreeRows; ++row) {
        const double score = sums(trees, row, 1)[0], other = is_probability && transform == "NONE" ? 1 - score : -score;
        const auto shown = [&](double s) { return transform == "NONE" ? s : 1 / (1 + std::exp(-s)); };
        EXPECT_EQ(results.at("label").i[row], score > (is_probability ? 0.5 : 0) ? 9 : 4);
        EXPECT_NEAR(results.at("y").f[row * 2], shown(other), 1e-6);
        EXPECT_NEAR(results.at("y").f[row * 2 + 1], shown(score), 1e-6);
      }
    }
  }
}

// Models of doubles have their numbers in tensors, and compare in f64.
TEST_F(OnnxTreeEnsembles, DoublesAreCompared) {
  constexpr double kThreshold = 0.1, kAbove = kThreshold + 1e-12;
  const auto doubles = [](const std::string& name, const std::vector<double>& values) {
    return onnx_tensor_value(name, onnx_tensor(name, kF64, {std::ssize(values)}, raw_doubles(values)));
  };
  const auto leaves_of = [&](const Shape& shape, const std::vector<double>& x) {
    OnnxGraph graph;
    graph.input("x", kF64, shape);
    graph.node("TreeEnsembleRegressor", {"x"}, {"y"},
               {onnx_integers("nodes_treeids", {0, 0, 0}), onnx_integers("nodes_nodeids", {0, 1, 2}),
                onnx_integers("nodes_featureids", {0, 0, 0}), onnx_texts("nodes_modes", {"BRANCH_LEQ", "LEAF", "LEAF"}),
                onnx_integers("nodes_truenodeids", {1, 0, 0}), onnx_integers("nodes_falsenodeids", {2, 0, 0}),
                doubles("nodes_values_as_tensor", {kThreshold, 0, 0}), onnx_integers("target_treeids", {0, 0}),
                onnx_integers("target_nodeids", {1, 2}), onnx_integers("target_ids", {0, 0}),
                doubles("target_weights_as_tensor", {3, 5}), onnx_integer("n_targets", 1)},
               "ai.onnx.ml");
    graph.output("y", kF32, {});
    write_file(folder_.file("model.onnx"), onnx_model(graph, 18));
    ReferenceExecutor executor;
    const auto results = run_imported(onnx::import_model(folder_.file("model.onnx"), {}), executor,
                                      {{"x", tensor_of_values({DType::kF64, shape}, x)}});
    return results.at("y").f;
  };
  EXPECT_EQ(leaves_of({2, 1}, {kThreshold, kAbove}), (std::vector<double>{3, 5}));
  EXPECT_EQ(leaves_of({1}, {kThreshold}), std::vector<double>{3});  // a vector is a row
}

TEST_F(OnnxTreeEnsembles, WhatIsWrongOrNotSupportedIsNamed) {
  const auto names = [](const std::string& error, const std::string& part) {
    EXPECT_NE(error.find(part), std::string::npos) << error;
  };
  const Node branch = {.mode = "BRANCH_LEQ", .feature = 2, .on_true = 1, .on_false = 2};
  const Node leaf = {.weights = {1}};
  const auto refused_tree = [&](const Tree& tree) {
    return refused("TreeEnsembleRegressor", attributes({tree}, "target"));
  };
  EXPECT_EQ(refused_tree({branch, leaf, leaf}), "");
  names(refused_tree({branch, leaf}), "tree 0 has no node 12");
  names(refused_tree({branch, leaf, leaf, leaf}), "tree 0 has two roots");
  names(refused_tree({{.mode = "BRANCH_LEQ", .on_true = 0, .on_false = 1}, leaf}), "tree 0 has no root");
  names(refused_tree({{.mode = "BRANCH_LEQ", .feature = 3, .on_true = 1, .on_false = 2}, leaf, leaf}),
        "other features than the 3");
  names(refused_tree({{.mode = "BRANCH_IN", .on_true = 1, .on_false = 2}, leaf, leaf}), "nodes_modes has BRANCH_IN");
  const std::vector<std::string> whole = attributes({{branch, leaf, leaf}}, "target");
  names(refused("TreeEnsembleRegressor", whole, {onnx_text("aggregate_function", "MIN")}), "aggregate_function is MIN");
  names(refused("TreeEnsembleRegressor", whole, {onnx_floats("base_values", {1, 2})}), "base_values has 2 numbers");
  names(refused("TreeEnsembleRegressor", whole, {onnx_integer("n_targets", 0)}), "nothing to add up");
  names(refused("TreeEnsembleRegressor", whole, {onnx_integer("n_targets", int64_t{1} << 40)}),
        "1099511627776 results");
  const Node two = {.weights = {1, 2}};
  names(refused("TreeEnsembleClassifier", attributes({{branch, two, two}}, "class"),
                {onnx_integers("classlabels_int64s", {0, 1})}),
        "other than the first of its two classes");
  names(refused("TreeEnsembleClassifier", attributes({{branch, leaf, leaf}}, "class"),
                {onnx_texts("classlabels_strings", {"a", "b"})}),
        "its labels are strings");
}

}  // namespace
}  // namespace ingot
