// Collectives: all_reduce, all_gather, all_to_all, reduce_scatter, collective_permute and its like. ingot
// compiles for one process, which alone gets back what it gives; one that nobody sends to gets zeros.
#include <fmt/format.h>

#include <algorithm>

#include "aot/ops/support/build.h"
#include "aot/ops/support/callee.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::collectives_op {
namespace {

constexpr const char* kGroups = "replica_groups";      // a row of process ids for each group
constexpr const char* kRoot = "has_dynamic_root";      // the last operand says which process is the first
constexpr const char* kPairs = "source_target_pairs";  // a row for each pair

// A matrix of process ids. No groups at all mean one of all processes.
const Literal& processes(const Op& op) { return *op.attrs().literal(op.attr_map.contains(kPairs) ? kPairs : kGroups); }

bool is_single(const Op& op) {
  const Literal& ids = processes(op);
  if (!op.attr_map.contains(kPairs)) return ids.type.rank() != 2 || ids.type.shape[1] <= 1;
  const int64_t written = ids.is_splat ? std::min<int64_t>(ids.type.elements(), 1) : ids.type.elements();
  for (int64_t k = 0; k < written; ++k) {
    if (ids.int_at(k) != 0) return false;
  }
  return true;
}

// Whether this process gets anything.
bool takes_part(const Op& op) {
  const bool is_broadcast = op.is(kCollectiveBroadcast) || op.is(kCollectivePermute);
  return !is_broadcast || processes(op).type.elements() > 0;
}

std::vector<TensorType> infer(const InferArgs& args) {
  const size_t roots = args.attr_map.contains(kRoot) ? 1 : 0;
  if (args.declared.empty() || args.operands.size() != args.declared.size() + roots) {
    args.fail(fmt::format("has {} operands and {} results", args.operands.size(), args.declared.size()));
  }
  for (size_t i = 0; i < args.declared.size(); ++i) {
    if (args.operands[i].rank() == args.declared[i].rank()) continue;
    args.fail(fmt::format("cannot give {} from {}", to_string(args.declared[i]), to_string(args.operands[i])));
  }
  args.attrs().literal(args.attr_map.contains(kPairs) ? kPairs : kGroups);
  return declared_results(args);
}

void check_single(const Op& op) {
  if (!is_single(op)) {
    throw_limit(op.location,
                fmt::format("{}: several processes take part ({}); ingot compiles a program for one: lower it for a "
                            "single device",
                            op.name(), op.attr_map.contains(kPairs) ? kPairs : kGroups));
  }
  for (size_t i = 0; i < op.results.size(); ++i) {
    const TensorType& from = op.operands[i]->type;
    const TensorType& to = op.results[i]->type;
    if (from == to) continue;
    throw_error(op.location,
                fmt::format("{}: one process alone cannot give {} from {}", op.name(), to_string(to), to_string(from)));
  }
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  check_single(args.op);
  std::vector<RefTensor> results;
  for (size_t i = 0; i < args.op.results.size(); ++i) {
    RefTensor& result = results.emplace_back(args.result_type(static_cast<int>(i)));
    if (!takes_part(args.op)) continue;
    for (int64_t k = 0; k < result.elements(); ++k) result.copy_element(k, args.inputs[i], k);
  }
  return results;
}

Values expand(ExpandArgs& args) {
  check_single(args.op);
  Values results;
  for (size_t i = 0; i < args.op.results.size(); ++i) {
    Value* operand = args.op.operands[i];
    results.push_back(takes_part(args.op) ? operand : ops::zeros_like(args.b, operand));
  }
  return results;
}

Values gradient(GradientArgs& args) {
  check_single(args.op);
  Values gradients(args.op.operands.size(), nullptr);
  if (takes_part(args.op)) std::ranges::copy(args.result_gradients, gradients.begin());
  return gradients;
}

// `rest` is what stands between the attributes and the types: a region for those that combine.
Sample sample(std::string_view op, std::string_view attrs, const std::string& rest = "") {
  const std::string type = "tensor<2x3xf32>";
  return {.text = ops::single_op(
              "%x: " + type, fmt::format("\"stablehlo.{}\"(%x) <{{{}}}> {}: ({}) -> {}", op, attrs, rest, type, type),
              type)};
}

std::string sum_region() { return ops::scalar_region("add", "f32") + " "; }

std::vector<Sample> all_reduce_samples() {
  return {sample("all_reduce", "replica_groups = dense<0> : tensor<1x1xi64>", sum_region()),
          sample("all_reduce", "replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>", sum_region())};
}

std::vector<Sample> all_gather_samples() {
  return {sample("all_gather", "all_gather_dim = 1 : i64, replica_groups = dense<0> : tensor<1x1xi64>")};
}

std::vector<Sample> all_to_all_samples() {
  return {sample("all_to_all",
                 "concat_dimension = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>, split_count = 1 : i64, "
                 "split_dimension = 1 : i64")};
}

std::vector<Sample> reduce_scatter_samples() {
  return {sample("reduce_scatter", "replica_groups = dense<0> : tensor<1x1xi64>, scatter_dimension = 1 : i64",
                 sum_region())};
}

std::vector<Sample> collective_permute_samples() {
  return {sample("collective_permute", "source_target_pairs = dense<0> : tensor<1x2xi64>"),
          sample("collective_permute", "source_target_pairs = dense<> : tensor<0x2xi64>")};
}

std::vector<Sample> collective_reduce_samples() {
  return {sample("collective_reduce", "replica_groups = dense<0> : tensor<1x1xi64>", sum_region())};
}

std::vector<Sample> collective_broadcast_samples() {
  return {sample("collective_broadcast", "replica_groups = dense<0> : tensor<1x1xi64>")};
}

constexpr OpDef collective(OpDef def) {
  def.infer = infer;
  def.evaluate = evaluate;
  def.gradient = gradient;
  def.expand = expand;
  def.root = KernelRoot::kNone;
  return def;
}

}  // namespace

extern const OpDef kAllReduce = collective({
    .name = "stablehlo.all_reduce",
    .doc = "The operands of all processes combined; of one process, its own.",
    .samples = all_reduce_samples,
});

extern const OpDef kAllGather = collective({
    .name = "stablehlo.all_gather",
    .doc = "The operands of all processes one after the other; of one process, its own.",
    .samples = all_gather_samples,
});

extern const OpDef kAllToAll = collective({
    .name = "stablehlo.all_to_all",
    .doc = "A part of the operand of each process; of one process, its own.",
    .samples = all_to_all_samples,
});

extern const OpDef kReduceScatter = collective({
    .name = "stablehlo.reduce_scatter",
    .doc = "A part of the operands of all processes combined; of one process, its own.",
    .samples = reduce_scatter_samples,
});

extern const OpDef kCollectiveReduce = collective({
    .name = "stablehlo.collective_reduce",
    .doc = "The operands of all processes combined, for the first of them; of one process, its own.",
    .samples = collective_reduce_samples,
});

extern const OpDef kCollectivePermute = collective({
    .name = "stablehlo.collective_permute",
    .doc = "The operand of the process that sends to this one, or zeros.",
    .samples = collective_permute_samples,
});

extern const OpDef kCollectiveBroadcast = collective({
    .name = "stablehlo.collective_broadcast",
    .doc = "The operand of the first process of the group, or zeros outside of all groups.",
    .samples = collective_broadcast_samples,
});

}  // namespace ingot::collectives_op
