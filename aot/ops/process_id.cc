// stablehlo.partition_id and replica_id: which process this is. There is one.
#include "aot/ops/support/build.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::process_id_op {
namespace {

const TensorType kId{DType::kUI32, {}};

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 0);
  return {kId};
}

std::vector<RefTensor> evaluate(const EvaluateArgs&) { return {RefTensor(kId)}; }

Values expand(ExpandArgs& args) { return {ops::constant(args.b, splat_int(kId, 0))}; }

std::vector<Sample> partition_samples() {
  return {{.text = ops::single_op("", "stablehlo.partition_id : tensor<ui32>", "tensor<ui32>")}};
}

std::vector<Sample> replica_samples() {
  return {{.text = ops::single_op("", "stablehlo.replica_id : tensor<ui32>", "tensor<ui32>")}};
}

constexpr OpDef process_id(OpDef def) {
  def.doc = "Which of the processes this is: 0, the only one.";
  def.assembly = "attr-dict :result";
  def.infer = infer;
  def.evaluate = evaluate;
  def.zero_gradient = true;
  def.expand = expand;
  def.root = KernelRoot::kNone;
  return def;
}

}  // namespace

extern const OpDef kPartitionId = process_id({.name = "stablehlo.partition_id", .samples = partition_samples});
extern const OpDef kReplicaId = process_id({.name = "stablehlo.replica_id", .samples = replica_samples});

}  // namespace ingot::process_id_op
