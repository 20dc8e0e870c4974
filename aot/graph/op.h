// What an op is: one row with everything that the rest of the compiler asks of it.
//
// Each op is one file in aot/ops/ that defines its row, and one line in aot/ops/ops.def. A `switch` over op kinds
// anywhere else means that a column is missing here.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "aot/base/error.h"
#include "aot/graph/graph.h"
#include "aot/graph/tensor.h"

namespace ingot {

namespace loops {
struct ElementArgs;
struct Contraction;
struct ExprNode;
using Expr = std::shared_ptr<const ExprNode>;
enum class ScalarOp : uint8_t;
}  // namespace loops

namespace layouts {
struct AxisRule;
}  // namespace layouts

class GraphBuilder;
struct AccessMap;

// --- infer: result types -------------------------------------------------------------------------------------------
struct InferArgs {
  std::string_view name;  // the op's, for messages
  std::span<const TensorType> operands;
  const AttrMap& attr_map;
  std::span<const std::unique_ptr<Block>> regions;
  std::span<const TensorType> declared;  // result types as written or asked for; may be empty
  const Location& location;

  Attrs attrs() const { return Attrs(attr_map, name, location); }
  [[noreturn]] void fail(const std::string& message) const;  // "NAME: message" at the op's location
  // The declared result, for ops whose result type is a parameter (convert, reshape, iota, ...).
  const TensorType& declared_result() const;
};

// --- evaluate: the definition ----------------------------------------------------------------------------------------
struct EvaluateArgs {
  const Op& op;
  std::span<const RefTensor> inputs;
  // Runs a region (or a called function's body) on arguments; gives its terminator's operands.
  const std::function<std::vector<RefTensor>(const Block&, std::vector<RefTensor>)>& run;
  bool round_partial_sums = false;  // EvaluateOptions::round_partial_sums

  const TensorType& result_type(int i = 0) const { return op.result(i)->type; }
  Attrs attrs() const { return op.attrs(); }
};

// --- gradient: vector-Jacobian product as graph ops ------------------------------------------------------------------
struct GradientArgs {
  GraphBuilder& b;
  const Op& op;
  std::span<Value* const> result_gradients;  // null where nothing flows back
  std::span<const bool> needed;              // operands whose gradient is wanted

  Value* operand(int i) const { return op.operand(i); }
  Value* result(int i = 0) const { return op.result(i); }
  Value* dy(int i = 0) const { return result_gradients[i]; }
};

// --- expand: the op as other ops ------------------------------------------------------------------------------------
struct ExpandArgs {
  GraphBuilder& b;  // stands before the op
  const Op& op;

  Value* operand(int i) const { return op.operand(i); }
  Attrs attrs() const { return op.attrs(); }
};

// --- split: the op on complex numbers as ops on their parts ---------------------------------------------------------
// A complex value as two real ones; of any other value, the value and null.
struct Parts {
  Value* re = nullptr;
  Value* im = nullptr;
};

struct SplitArgs {
  GraphBuilder& b;  // stands before the op
  Op& op;           // its regions may be taken
  std::span<const Parts> operands;
  // Replaces the complex values in a region, each complex argument by two in its place.
  const std::function<void(Block&)>& split_region;

  Value* re(int i) const { return operands[i].re; }
  Value* im(int i) const { return operands[i].im; }
  Attrs attrs() const { return op.attrs(); }
};

// --- samples: what the generic op test runs -------------------------------------------------------------------------
// One use of the op, as the text of a StableHLO function whose only interesting op is this one:
//   func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//     %0 = stablehlo.tanh %x : tensor<2x3xf32>
//     return %0 : tensor<2x3xf32>
//   }
// Float arguments are drawn from [low, high] and, where `specials` is set, seeded with NaN, infinities, zeros,
// denormals and extremes; integer arguments from [integer_low, integer_high].
struct Sample {
  std::string text;
  double low = -3, high = 3;
  int64_t integer_low = -100, integer_high = 100;
  bool specials = false;       // the inputs of an elementwise op may be anything
  bool differentiable = true;  // the gradient test applies (float operands, away from kinks)
};

// --- how it becomes loops -------------------------------------------------------------------------------------------
// The template (aot/schedule/) that builds a kernel around the op. kElement ops have no loops of their own: they are
// pulled, element by element, into the kernel that reads them.
enum class KernelRoot : uint8_t {
  kNone,           // never in a kernel: call, return, custom_call, what expands (a pass removes it)
  kElement,        // `element` gives one result element from operand elements
  kContraction,    // dot_general, convolution: `contraction`
  kReduce,         // reduce
  kWindow,         // reduce_window
  kSelectScatter,  // select_and_scatter
  kScatter,        // scatter
  kUpdate,         // dynamic_update_slice: overwrites part of a copy
  kSort,           // sort: a row is a task
  kTopK,           // top_k: the greatest of a row, in registers
  kCholesky,
  kTriangularSolve,
  kControlFlow,  // while, case, if: its regions hold kernels, and the plan jumps
};

// Accuracy promised for compiled code against evaluate, in units in the last place of the result's dtype; 0 is exact.
// For a root, which may sum up, units of the same sum of magnitudes; for what expands and is not elementwise, units of
// the largest element of the result.
struct UlpBound {
  double f32 = 0;
  double f64 = 0;
  double half = 0.5;  // f16 and bf16, computed in f32 and rounded once
};

struct OpDef {
  std::string_view name;           // "stablehlo.tanh"
  std::string_view doc = {};       // one sentence: y = tanh(x), elementwise
  std::string_view assembly = {};  // the pretty form; see assembly.h. Empty: generic form only

  std::vector<TensorType> (*infer)(const InferArgs&) = nullptr;
  std::vector<RefTensor> (*evaluate)(const EvaluateArgs&) = nullptr;
  // One value (or null) for each operand. Null pointer: not differentiable.
  Values (*gradient)(GradientArgs&) = nullptr;
  bool zero_gradient = false;  // integer-valued, piecewise constant or stop_gradient: nothing flows back
  // One value for each result: the pass `expand` puts them in the op's place. None, from an op with a root: it stays.
  Values (*expand)(ExpandArgs&) = nullptr;
  // One entry for each result: the pass split_complex puts them in the place of an op with complex operands or results.
  // Null pointer: no such op.
  std::vector<Parts> (*split)(SplitArgs&) = nullptr;
  std::vector<Sample> (*samples)() = nullptr;

  KernelRoot root = KernelRoot::kElement;
  // What only moves elements says where it finds them (access_map.h), and needs no `element`: that follows.
  AccessMap (*access)(const Op&) = nullptr;
  loops::Expr (*element)(loops::ElementArgs&) = nullptr;
  loops::Contraction (*contraction)(const Op&) = nullptr;
  // What other orders of dimensions do to it (axes.h). None: its tensors lie as written, unless it is elementwise.
  const layouts::AxisRule* axes = nullptr;
  UlpBound ulp = {};

  bool is_terminator = false;
  bool ends_function = false;    // the terminator of functions; the others end regions
  bool is_isolated = false;      // its regions read no value from outside
  bool has_side_effect = false;  // stays although nobody reads its results
  bool is_commutative = false;
  // Element i depends on elements i alone; operands have the result's shape, or are scalars that stand for all elements
  // (select's predicate, clamp's bounds).
  bool is_elementwise = false;
  int flops = 1;                       // per result element, for cost decisions; transcendental about 20
  bool infers_dynamic_shapes = false;  // infer holds for unknown dimensions, too; else it is asked once all are known
  bool moves_by_data = false;          // moves elements to where, or from where, data says: gather, ...
  bool keeps_bits = false;             // does not move, but its results have bits of its operands: select, ...
  // Infer is told how tensors are quantized. Else it sees their expressed types, and its results are quantized as the
  // text says.
  bool infer_sees_quantized = false;
  bool mixes_float_and_quantized = false;  // operand 0 and the results may be floats where operand 1 is quantized

  bool only_moves() const { return access || moves_by_data; }  // its results have elements of its operands, no others
  bool has_elements() const { return access || element; }      // they can be pulled, one by one
};

// Element i of the result depends on elements i of operands alone: elementwise, or bits as those of another type as wide.
inline bool reads_own_index(const Op& op) {
  if (op.def->is_elementwise) return true;
  const bool is_bitcast = op.def->keeps_bits && op.def->element && op.operands.size() == 1 && op.results.size() == 1;
  return is_bitcast && op.operand(0)->type.shape == op.result()->type.shape;
}

// An op has one row, wherever it stands: rows are the same when they are one.
inline bool operator==(const OpDef& a, const OpDef& b) { return &a == &b; }

// The ops that a parser knows, by name.
class OpTable {
 public:
  explicit OpTable(std::span<const OpDef* const> ops);
  const OpDef* find(std::string_view name) const;  // null when unknown
  std::span<const OpDef* const> all() const { return ops_; }

 private:
  std::vector<const OpDef*> ops_;
  std::map<std::string_view, const OpDef*> by_name_;
};

}  // namespace ingot
