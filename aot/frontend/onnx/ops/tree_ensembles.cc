// Ops of the domain ai.onnx.ml that are sums of decision trees. All trees of a row go down at once, a level at a time:
// where each is, is the number of a node, and nodes are tables to look into. Leaves lead to themselves.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "aot/frontend/onnx/classical_models.h"
#include "aot/frontend/onnx/graph_importer.h"
#include "aot/frontend/onnx/read_model.h"

namespace ingot::onnx {
namespace {

constexpr int kLevelsMax = 128;
constexpr int64_t kAddedMax = int64_t{1} << 27;  // of the table of what leaves add

// The comparison by which a branch is left to its true side; "" at leaves.
const std::map<std::string_view, std::string_view> kDirections = {
    {"BRANCH_LEQ", "LE"}, {"BRANCH_LT", "LT"},  {"BRANCH_GTE", "GE"}, {"BRANCH_GT", "GT"},
    {"BRANCH_EQ", "EQ"},  {"BRANCH_NEQ", "NE"}, {"LEAF", ""},
};

// Numbers of an attribute, or of the tensor that it is in doubles' models.
std::vector<double> numbers_of(NodeArgs& n, const std::string& name) {
  const Attribute* tensor = n.find(name + "_as_tensor");
  if (!tensor || !tensor->tensor) return n.numbers(name);
  const RefTensor values = from_literal(*literal_of(*tensor->tensor, &n.importer.model()));
  if (!values.is_float()) n.fail(fmt::format("its attribute {}_as_tensor is not of floats", name));
  return values.f;
}

// Rows of features, in f64 where the model computes in it.
Term inputs(NodeArgs& n) { return features(n, dtype_of(n.in(0)) == DType::kF64 ? DType::kF64 : DType::kF32); }

class Forest {
 public:
  explicit Forest(NodeArgs& n) : n_(n), features_(integers_of_nodes("featureids")) {
    const std::vector<int64_t> trees = n_.integers("nodes_treeids"), ids = integers_of_nodes("nodeids");
    for (int64_t i = 0; i < count(); ++i) {
      if (!numbers_.emplace(std::pair(trees[i], ids[i]), i).second)
        n_.fail(fmt::format("node {} of tree {} stands in it twice", ids[i], trees[i]));
    }
    read_directions();
    const std::vector<int64_t> true_ids = integers_of_nodes("truenodeids"),
                               false_ids = integers_of_nodes("falsenodeids");
    std::set<int64_t> children;
    for (int64_t i = 0; i < count(); ++i) {
      const bool is_leaf = directions_[i].empty();
      true_.push_back(is_leaf ? i : number(trees[i], true_ids[i]));
      false_.push_back(is_leaf ? i : number(trees[i], false_ids[i]));
      if (!is_leaf) children.insert({true_[i], false_[i]});
    }
    std::set<int64_t> rooted;
    for (int64_t i = 0; i < count(); ++i) {
      if (children.contains(i)) continue;
      roots_.push_back(i);
      if (!rooted.insert(trees[i]).second) n_.fail(fmt::format("tree {} has two roots", trees[i]));
    }
    for (const int64_t tree : trees) {
      if (!rooted.contains(tree)) n_.fail(fmt::format("tree {} has no root", tree));
    }
  }

  int64_t trees() const { return std::ssize(roots_); }

  // Of each row and tree, the number of the leaf: i32 [rows, trees].
  Term leaves(Term x) const {
    const Shape shape = {x.shape()[0], trees()};
    if (!std::ranges::all_of(features_, [&](int64_t f) { return f >= 0 && f < x.shape()[1]; }))
      n_.fail(fmt::format("its nodes look at other features than the {} of its input", x.shape()[1]));
    Term at = broadcast(table(roots_), shape);
    for (int level = levels(); level > 0; --level)
      at = where(goes_true(x, at), take(table(true_), at, 0), take(table(false_), at, 0));
    return at;
  }

  // What the leaves of a row add up to: [rows, width] in the type of x, by attributes that begin with `kind`.
  Term sums(Term x, const std::string& kind, int64_t width) const {
    const std::vector<int64_t> trees = n_.integers(kind + "_treeids"), nodes = n_.integers(kind + "_nodeids"),
                               ids = n_.integers(kind + "_ids");
    const std::vector<double> weights = numbers_of(n_, kind + "_weights");
    if (width < 1 || trees.size() != weights.size() || nodes.size() != weights.size() || ids.size() != weights.size())
      n_.fail(fmt::format("its attributes {}_... have not the same number of elements, or nothing to add up", kind));
    if (width > std::ssize(weights) || width > kAddedMax / count())
      n_.limit(fmt::format("{} results of {} nodes with {} weights", width, count(), weights.size()));
    std::vector<double> by_node(count() * width);
    for (size_t i = 0; i < weights.size(); ++i) {
      if (ids[i] < 0 || ids[i] >= width) n_.fail(fmt::format("{}_ids has {}, of {}", kind, ids[i], width));
      by_node[number(trees[i], nodes[i]) * width + ids[i]] += weights[i];
    }
    const Term of_leaves = take(floats(n_.b, {dtype_of(x), {count(), width}}, by_node), leaves(x), 0);
    const Term sum = reshape(reduce(kAdd, of_leaves, {1}), {x.shape()[0], width});
    return n_.text("aggregate_function", "SUM") == "AVERAGE" ? sum / static_cast<double>(this->trees()) : sum;
  }

 private:
  int64_t count() const { return std::ssize(features_); }

  std::vector<int64_t> integers_of_nodes(const std::string& name) const {
    std::vector<int64_t> values = n_.integers("nodes_" + name);
    if (values.empty() || values.size() != n_.integers("nodes_treeids").size())
      n_.fail(fmt::format("its attribute nodes_{} has {} elements, of {} nodes", name, values.size(),
                          n_.integers("nodes_treeids").size()));
    return values;
  }

  int64_t number(int64_t tree, int64_t node) const {
    const auto found = numbers_.find({tree, node});
    if (found == numbers_.end()) n_.fail(fmt::format("tree {} has no node {}", tree, node));
    return found->second;
  }

  void read_directions() {
    const Attribute* modes = n_.find("nodes_modes");
    if (!modes || std::ssize(modes->strings) != count()) n_.fail("its attribute nodes_modes is not one for each node");
    for (const std::string_view mode : modes->strings) {
      const auto found = kDirections.find(mode);
      if (found == kDirections.end()) n_.fail(fmt::format("its attribute nodes_modes has {}", mode));
      directions_.push_back(found->second);
    }
    thresholds_ = numbers_of(n_, "nodes_values");
    tracks_ = n_.integers("nodes_missing_value_tracks_true", std::vector<int64_t>(count(), 0));
    if (std::ssize(thresholds_) != count() || std::ssize(tracks_) != count())
      n_.fail("its attributes nodes_values and nodes_missing_value_tracks_true are not one for each node");
  }

  // How often a row may go on from a root.
  int levels() const {
    std::vector<int64_t> at = roots_;
    for (int level = 0; level <= kLevelsMax; ++level) {
      std::set<int64_t> next;
      for (const int64_t node : at) {
        if (!directions_[node].empty()) next.insert({true_[node], false_[node]});
      }
      if (next.empty()) return level;
      at.assign(next.begin(), next.end());
    }
    n_.limit(fmt::format("a tree has more than {} levels", kLevelsMax));
  }

  Term table(const std::vector<int64_t>& values) const {
    return integers(n_.b, {DType::kI32, {std::ssize(values)}}, values);
  }
  Term flags(const std::vector<int64_t>& values, Term at) const {
    const Term found = take(table(values), at, 0);
    return negated(equal(found, found.like(0)));
  }

  // Whether rows x go to the true side of the nodes where they are.
  Term goes_true(Term x, Term at) const {
    const Term value = gather_elements(x, take(table(features_), at, 0), 1);
    const Term threshold = take(floats(n_.b, {dtype_of(x), {count()}}, thresholds_), at, 0);
    std::set<std::string_view> directions(directions_.begin(), directions_.end());
    directions.erase("");
    Term goes = constant(n_.b, {DType::kI1, at.shape()}, 0);
    for (const std::string_view direction : directions) {
      Term holds = value.compare(direction, threshold);
      if (directions.size() > 1)
        holds = both(holds, flags(those([&](int64_t i) { return directions_[i] == direction; }), at));
      goes = either(goes, holds);
    }
    if (std::ranges::all_of(tracks_, [](int64_t tracks) { return tracks == 0; })) return goes;
    return either(goes, both(is_nan(value), flags(tracks_, at)));
  }

  template <typename Predicate>
  std::vector<int64_t> those(Predicate predicate) const {
    std::vector<int64_t> values(count());
    for (int64_t i = 0; i < count(); ++i) values[i] = predicate(i);
    return values;
  }

  NodeArgs& n_;
  std::vector<int64_t> features_;
  std::map<std::pair<int64_t, int64_t>, int64_t> numbers_;  // of the nodes, by tree and id
  std::vector<std::string_view> directions_;
  std::vector<double> thresholds_;
  std::vector<int64_t> tracks_;  // where NaN goes to the true side
  std::vector<int64_t> true_, false_, roots_;
};

Item in_f32(Term scores) { return converted(scores, DType::kF32); }

Term with_base_values(NodeArgs& n, Term scores) {
  const std::vector<double> values = numbers_of(n, "base_values");
  const int64_t width = scores.shape()[1];
  if (values.empty()) return scores;
  if (std::ssize(values) != width)
    n.fail(fmt::format("its attribute base_values has {} numbers for {} results", values.size(), width));
  return scores + broadcast(floats(n.b, {dtype_of(scores), {width}}, values), scores.shape());
}

// Two classes by one score, as ONNX Runtime takes it: a probability, where no weight is negative, or else a margin.
Items by_one_score(NodeArgs& n, Term score, const std::vector<int64_t>& labels) {
  const std::vector<double> weights = numbers_of(n, "class_weights");
  const bool is_probability = std::ranges::all_of(weights, [](double w) { return w >= 0; });
  const std::string transform = n.text("post_transform", "NONE");
  if (transform != "NONE" && transform != "LOGISTIC")
    n.limit(fmt::format("its attribute post_transform is {} for one score; NONE and LOGISTIC are known", transform));
  const Shape rows = {score.shape()[0]};
  const Term wins = reshape(score, rows) > constant(n.b, {dtype_of(score), rows}, is_probability ? 0.5 : 0);
  const Term label = where(wins, constant(n.b, {DType::kI64, rows}, static_cast<double>(labels[1])),
                           constant(n.b, {DType::kI64, rows}, static_cast<double>(labels[0])));
  const Term other = is_probability && transform == "NONE" ? 1 - score : -score;
  return {Item(label), in_f32(transformed(n, concat({other, score}, 1)))};
}

}  // namespace

Items lower_tree_ensemble_regressor(NodeArgs& n) {
  const std::string aggregate = n.text("aggregate_function", "SUM");
  if (aggregate != "SUM" && aggregate != "AVERAGE")
    n.limit(fmt::format("its attribute aggregate_function is {}; SUM and AVERAGE are known", aggregate));
  const Term sums = Forest(n).sums(inputs(n), "target", n.integer("n_targets", 1));
  return in_f32(transformed(n, with_base_values(n, sums)));
}

// The label, and the scores [rows, classes].
Items lower_tree_ensemble_classifier(NodeArgs& n) {
  const std::vector<int64_t> labels = class_labels(n, "classlabels_int64s"), ids = n.integers("class_ids");
  const auto classes = static_cast<int64_t>(labels.size());
  const Forest forest(n);
  if (classes == 2) {
    if (!std::ranges::all_of(ids, [](int64_t id) { return id == 0; }))
      n.limit(
          "it has weights for other than the first of its two classes, as exporters do not; give them for that one");
    return by_one_score(n, with_base_values(n, forest.sums(inputs(n), "class", 1)), labels);
  }
  const Term scores = with_base_values(n, forest.sums(inputs(n), "class", classes));
  return {Item(label_of_greatest(n, labels, scores)), in_f32(transformed(n, scores))};
}

}  // namespace ingot::onnx
