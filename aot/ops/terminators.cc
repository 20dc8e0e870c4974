// The ops that end a block: their operands are the block's results.
#include "aot/graph/op.h"

namespace ingot::terminators_op {
namespace {

std::vector<TensorType> no_results(const InferArgs&) { return {}; }

constexpr OpDef terminator(std::string_view name, std::string_view doc) {
  OpDef def;
  def.name = name;
  def.doc = doc;
  def.assembly = "operands attr-dict (`:` types)?";
  def.infer = no_results;
  def.root = KernelRoot::kNone;
  def.infers_dynamic_shapes = true;
  def.infer_sees_quantized = true;
  def.is_terminator = true;
  return def;
}

}  // namespace

extern const OpDef kFuncReturn = [] {
  OpDef def = terminator("func.return", "Ends a function.");
  def.ends_function = true;
  return def;
}();
extern const OpDef kStablehloReturn = terminator("stablehlo.return", "Ends a region.");
extern const OpDef kYield = terminator("ingot.yield", "Ends the region of an ingot.kernel.");

}  // namespace ingot::terminators_op
