#include "tests/support/random_lowered.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "aot/loops/builder.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

using lowered::Access;
using lowered::Block;
using lowered::KernelCall;
using lowered::Node;
using lowered::NodeKind;
using lowered::ValueId;

const TensorType kRow{DType::kF32, {16}}, kTable{DType::kF32, {4, 16}};
const TensorType kNumber{DType::kI32, {}}, kTruth{DType::kI1, {}};
const std::vector<TensorType> kTypes = {kRow, kRow, kTable, kNumber, kTruth};  // rows more often

// What a kernel reads and makes; each result may lie where `over` says.
struct Signature {
  std::string name;
  std::vector<TensorType> reads, makes;
  std::vector<int> over = {};  // for each result, a number of what is read, or -1
  bool is_update = false;
};
const std::vector<Signature> kSignatures = {
    {"row", {kRow}, {kRow}, {0}},
    {"mix", {kRow, kRow}, {kRow}, {0}},
    {"mix_over_second", {kRow, kRow}, {kRow}, {1}},
    {"two", {kRow}, {kRow, kNumber}, {0, -1}},
    {"both", {kRow, kRow}, {kRow, kRow}, {1, 0}},
    {"iota", {}, {kRow}, {-1}},
    {"put", {kTable, kRow}, {kTable}, {0}, true},
    {"put_two", {kTable, kTable, kRow}, {kTable, kTable}, {0, 1}, true},
    {"take", {kTable}, {kRow}, {-1}},
    {"spread", {kRow}, {kTable}, {-1}},
    {"next", {kNumber}, {kNumber}, {0}},
    {"test", {kNumber}, {kTruth}, {-1}},
};

loops::Kernel kernel_of(const Signature& signature) {
  loops::KernelBuilder b(signature.name, 1);
  for (size_t i = 0; i < signature.reads.size(); ++i) {
    b.input(fmt::format("in{}", i), signature.reads[i].dtype, signature.reads[i].elements());
  }
  for (size_t i = 0; i < signature.makes.size(); ++i) {
    b.output(fmt::format("out{}", i), signature.makes[i].dtype, signature.makes[i].elements(), signature.over[i]);
  }
  return b.finish();
}

int number_of(std::string_view name) {
  const auto at = std::ranges::find(kSignatures, name, &Signature::name);
  return static_cast<int>(at - kSignatures.begin());
}

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  lowered::Function make() {
    function_.name = "random";
    for (const Signature& signature : kSignatures) function_.kernels.push_back(kernel_of(signature));
    for (const TensorType& type : {kRow, kTable, kNumber, kTruth}) add_sources(type);
    function_.body.nodes = make_nodes(2, 3 + random_.below(8), 0);
    for (size_t i = 0; i < function_.arguments.size(); ++i) {
      const bool is_replaced = function_.arguments[i].is_state && random_.chance(0.8);
      if (is_replaced) add_result(function_.type(function_.body.arguments[i]), function_.arguments[i]);
    }
    for (int64_t outputs = 1 + random_.below(3); outputs > 0; --outputs) add_result(random_.one_of(kTypes), {});
    return std::move(function_);
  }

 private:
  // --- values ---

  ValueId make_value(const TensorType& type) {
    visible_.push_back(function_.add_value(random_.chance(0.2) ? "" : "v", type));
    return visible_.back();
  }

  std::vector<ValueId> make_values(const std::vector<TensorType>& types) {
    std::vector<ValueId> values;
    for (const TensorType& type : types) values.push_back(make_value(type));
    return values;
  }

  // Late ones rather than early ones; there is one of each type.
  ValueId any(const TensorType& type) {
    std::vector<ValueId> values;
    for (const ValueId value : visible_) {
      if (function_.type(value) == type) values.push_back(value);
    }
    const auto count = static_cast<int64_t>(values.size());
    return values[std::max(random_.below(count), random_.below(count))];
  }

  std::vector<ValueId> any_of(const std::vector<TensorType>& types) {
    std::vector<ValueId> values;
    for (const TensorType& type : types) values.push_back(any(type));
    return values;
  }

  std::vector<TensorType> any_types(int64_t count) {
    std::vector<TensorType> types;
    while (std::ssize(types) < count) types.push_back(random_.one_of(kTypes));
    return types;
  }

  // --- the function ---

  // Of a type: some state, an input, and a constant.
  void add_sources(const TensorType& type) {
    for (int64_t k = random_.below(3); k >= 0; --k) {
      const std::string name = k == 0 ? "" : fmt::format("state{}", function_.values.size());
      function_.body.arguments.push_back(make_value(type));
      function_.arguments.push_back({name, k > 0});
    }
    function_.constants.push_back({make_value(type), splat_int(type, 1)});
  }

  void add_result(const TensorType& type, const lowered::Port& port) {
    function_.body.results.push_back(any(type));
    function_.results.push_back(port);
  }

  // --- nodes ---

  // What is visible and older than `outside` comes from outside of the loop around the block, if one is.
  std::vector<Node> make_nodes(int depth, int64_t count, size_t outside) {
    std::vector<Node> nodes;
    for (; count > 0; --count) {
      const double kind = depth == 0 ? 1 : random_.uniform();
      nodes.push_back(kind < 0.12 ? make_loop(depth) : kind < 0.25 ? make_branches(depth) : make_calls(outside));
    }
    return nodes;
  }

  static KernelCall call_of(int kernel, const std::vector<ValueId>& read, const std::vector<ValueId>& made) {
    KernelCall call{kernel, {}};
    for (const ValueId value : read) call.arguments.push_back({value, Access::kRead});
    const Access access = kSignatures[kernel].is_update ? Access::kUpdate : Access::kWrite;
    for (const ValueId value : made) call.arguments.push_back({value, access});
    return call;
  }

  Node make_call(std::string_view name, ValueId read) {
    Node node;
    node.results = make_values(kSignatures[number_of(name)].makes);
    node.calls = {call_of(number_of(name), {read}, node.results)};
    return node;
  }

  Node make_calls(size_t outside) {
    Node node;
    if (random_.chance(0.2)) {
      // A temporary, and what is made from it.
      const ValueId from = random_.chance(0.5) ? any(kRow) : older_row(outside);
      const bool is_hoistable =
          std::find(visible_.begin(), visible_.begin() + outside, from) != visible_.begin() + outside;
      const ValueId temporary = function_.add_value("partial", kRow);
      node.calls = {call_of(number_of("row"), {from}, {temporary})};
      node.hoistable_calls = is_hoistable ? 1 : 0;
      const ValueId read = any(kRow);
      node.results = {make_value(kRow)};
      node.calls.push_back(call_of(number_of("mix"), {read, temporary}, node.results));
      return node;
    }
    while (true) {
      const auto kernel = static_cast<int>(random_.below(std::ssize(kSignatures)));
      const std::vector<ValueId> read = any_of(kSignatures[kernel].reads);
      if (std::set<ValueId>(read.begin(), read.end()).size() < read.size()) continue;  // none is read twice
      node.results = make_values(kSignatures[kernel].makes);
      node.calls = {call_of(kernel, read, node.results)};
      return node;
    }
  }

  // The newest row from outside of the loop, if it is a loop's body.
  ValueId older_row(size_t outside) {
    for (size_t i = outside; i > 0; --i) {
      if (function_.type(visible_[i - 1]) == kRow) return visible_[i - 1];
    }
    return any(kRow);
  }

  Node make_loop(int depth) {
    Node loop{.kind = NodeKind::kWhile};
    std::vector<TensorType> types = {kNumber, kTruth};  // the counter, and what one condition returns
    for (const TensorType& type : any_types(random_.below(4))) types.push_back(type);
    loop.operands = any_of(types);
    const size_t outside = visible_.size();
    const bool is_carried = random_.chance(0.3);

    Block condition{make_values(types), make_nodes(0, random_.below(2), 0), {}};
    if (!is_carried) condition.nodes.push_back(make_call("test", condition.arguments[0]));
    condition.results = {is_carried ? condition.arguments[1] : condition.nodes.back().results[0]};
    visible_.resize(outside);

    Block body{make_values(types), make_nodes(depth - 1, 1 + random_.below(4), outside), {}};
    body.nodes.push_back(make_call("next", body.arguments[0]));
    body.results = any_of(types);
    body.results[0] = body.nodes.back().results[0];
    body.nodes.push_back(make_call("test", body.results[0]));
    body.results[1] = body.nodes.back().results[0];
    visible_.resize(outside);

    loop.regions = {std::move(condition), std::move(body)};
    loop.results = make_values(types);
    return loop;
  }

  Node make_branches(int depth) {
    Node node{.kind = NodeKind::kCase};
    const bool is_truth = random_.chance(0.5);
    node.operands = {any(is_truth ? kTruth : kNumber)};
    node.cases = is_truth ? std::vector<int>{1} : random_.one_of<std::vector<int>>({{}, {0}, {0, 1}});
    const std::vector<TensorType> types = any_types(1 + random_.below(2));
    const size_t outside = visible_.size();
    for (size_t k = 0; k <= node.cases.size(); ++k) {
      Block branch{{}, make_nodes(depth - 1, random_.below(4), 0), {}};
      branch.results = any_of(types);
      node.regions.push_back(std::move(branch));
      visible_.resize(outside);
    }
    node.results = make_values(types);
    return node;
  }

  Random random_;
  lowered::Function function_;
  std::vector<ValueId> visible_;  // the newest last
};

}  // namespace

lowered::Function random_lowered(uint64_t seed) {
  lowered::Function function = Maker(seed).make();
  verify(function);
  return function;
}

}  // namespace ingot
