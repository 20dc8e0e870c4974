// Loops: one kernel, with explicit loops, vectors, tasks and memory. The second of the three forms.
//
// A kernel reads and writes flat buffers. Its body is a tree of statements; values are expression trees over scalars
// and short vectors. All bounds, strides and tile sizes are integers. Nothing here knows tensors, ops of the graph, or
// LLVM; `interpret` runs it, `emit_llvm` (aot/codegen) compiles it.
//
//   kernel scale lanes 8 tasks 4 (x: f32[1000], y: f32[1000] out) {
//     for i in 256*task .. min(1000, 256*task + 256) by 8 {
//       store y[i + lane] = multiply(load x[i + lane], splat(f32(2)))
//     }
//   }
//
// Vectors. An expression has a dtype and a number of lanes. The pseudo variable `lane` is 0, 1, ... in the lanes of a
// vector: an index with coefficient 1 for `lane` is a contiguous vector, another coefficient or a vector-valued `let`
// variable is a gather. An index without lanes is the same for all: such a load has one lane and is splat where it
// meets vectors. f16 and bf16 values live in buffers only: a load gives f32, a store rounds to nearest even. Sub-byte
// integers take one byte in buffers and registers, i1 one byte in buffers.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aot/graph/type.h"

namespace ingot::loops {

enum class ScalarOp : uint8_t {
#define SCALAR_OP(enumerator, text, arity, accepts, kind) enumerator,
#include "aot/loops/scalar_ops.def"
};

struct ScalarOpInfo {
  std::string_view text;
  int arity;
  std::string_view accepts;  // some of "FSIWB"
  bool is_primitive;
};
const ScalarOpInfo& info(ScalarOp op);
bool accepts(ScalarOp op, DType dtype);  // as its last operand
constexpr bool is_dot_pairs(ScalarOp op) { return op == ScalarOp::kDotPairs || op == ScalarOp::kDotPairsToOdd; }

// f16 and bf16 are computed in f32; every other dtype in itself.
DType register_dtype(DType dtype);

// The dtype of op(args) when its last argument has `dtype`: i1 for comparisons and is_finite, else `dtype`.
DType result_dtype(ScalarOp op, DType dtype);
// ... and that of argument `k`.
DType operand_dtype(ScalarOp op, int k, DType dtype);

using VarId = int32_t;     // index into Kernel::vars
using BufferId = int32_t;  // index into Kernel::buffers
using TileId = int32_t;    // index into Kernel::tiles

inline constexpr VarId kTaskVar = 0;  // every kernel's first variable: the task index
inline constexpr VarId kLaneVar = 1;  // every kernel's second variable: the lane

// An affine integer: constant + sum of coefficient * variable.
// Invariant: terms are sorted by variable, without zero coefficients.
struct Index {
  struct Term {
    VarId var;
    int64_t coefficient;
    bool operator==(const Term&) const = default;
  };
  int64_t constant = 0;
  std::vector<Term> terms;

  Index() = default;
  Index(int64_t c) : constant(c) {}  // NOLINT: integers are indices
  static Index variable(VarId var, int64_t coefficient = 1);

  bool is_constant() const { return terms.empty(); }
  int64_t coefficient(VarId var) const;  // 0 when absent
  Index without(VarId var) const;
  bool operator==(const Index&) const = default;
};
Index operator+(const Index& a, const Index& b);
Index operator-(const Index& a, const Index& b);
Index operator*(const Index& a, int64_t factor);

enum class ExprKind : uint8_t {
  kConstant,  // `bits` as dtype, one lane
  kIndex,     // `index` as a value of dtype (i64 unless asked for); lanes > 1 when it has a vector variable or `lane`
  kVar,       // a `let` variable that is not an index
  kTile,      // tiles[tile] element at `indices` (constants once unrolled)
  kLoad,   // buffers[buffer] at element `index`; args[0], when present, is a mask (i1): lanes where it is false give 0
           // and touch no memory
  kApply,  // op(args)
  kConvert,  // args[0] to dtype. Float to integer saturates, NaN gives 0; to i1 is != 0; integers wrap
  kBitcast,  // args[0]'s bits as dtype, same width
  kRound,    // args[0] (f32 or f64) rounded to the precision of `round_to` (f16, bf16, f32), still of its own dtype
  kSplat,    // args[0] (one lane) in every lane
  kReduce,   // all lanes of args[0] combined by `op` in a fixed tree (halves: lane i with lane i + n/2), one lane. One
             // lane is its own result
};

struct ExprNode;
using Expr = std::shared_ptr<const ExprNode>;  // shared nodes are computed once within a statement

struct ExprNode {
  ExprKind kind;
  DType dtype;    // never f16 or bf16
  int lanes = 1;  // 1 or the kernel's vector width
  ScalarOp op{};
  DType round_to{};
  uint64_t bits = 0;
  Index index;
  std::vector<Index> indices;
  VarId var = -1;
  BufferId buffer = -1;
  TileId tile = -1;
  bool is_again = false;  // kLoad: read where it is used, whether or not a register has it from another load
  std::vector<Expr> args;
};

enum class StmtKind : uint8_t {
  kFor,    // for var in lower .. upper by step: body. `unroll`: constant trip count, expanded by the emitter; `apart`:
           // what a copy of the body loads is not loaded among the statements of the one before
  kIf,     // if args-free condition `value` (i1, one lane): body, else else_body
  kLet,    // var = value
  kSet,    // tiles[tile][indices] = value
  kStore,  // buffers[buffer][index] = value, in lanes where `mask` (may be null) holds
  kPrefetch,   // buffers[buffer][index]
  kTranspose,  // tiles[tile], as many vectors as each has lanes: element i of vector j and element j of vector i swap
};

struct Stmt {
  StmtKind kind;
  VarId var = -1;
  Index lower, upper;             // kFor. The upper bound is exclusive
  std::vector<Index> upper_also;  // kFor: the loop ends at the least of upper and these
  int64_t step = 1;
  bool unroll = false, apart = false;
  Expr value;
  Expr mask;
  BufferId buffer = -1;
  Index index;
  TileId tile = -1;
  std::vector<Index> indices;
  std::vector<Stmt> body;
  std::vector<Stmt> else_body;
};

enum class VarKind : uint8_t { kTask, kLane, kLoop, kLet };

struct Var {
  std::string name;
  VarKind kind = VarKind::kLet;
  DType dtype = DType::kI64;
  int lanes = 1;
  // Integer variables: the values lie in [low, high]. Div and mod by constants and bounds checks are simplified with
  // these. `verify` proves them, but of a kLet that is trusted: whoever builds it says why they hold.
  int64_t low = std::numeric_limits<int64_t>::min() / 4;
  int64_t high = std::numeric_limits<int64_t>::max() / 4;
  int64_t multiple_of = 1;  // and are multiples of this
  bool is_trusted = false;

  bool operator==(const Var&) const = default;
};

enum class BufferRole : uint8_t { kInput, kOutput, kScratch };

// A buffer that a kernel writes shares no memory with any other, except as may_alias says.
struct Buffer {
  std::string name;
  DType dtype = DType::kF32;
  int64_t elements = 0;
  BufferRole role = BufferRole::kInput;
  // An output that may share the memory of this input (-1: none): every task reads element i of the input before it
  // writes element i of the output, and nothing else of that input.
  BufferId may_alias = -1;
  int64_t scratch_offset_bytes = 0;  // kScratch: set when the kernel is finished
};

// Values in registers: rank-n array of scalars or vectors;
// indices are constants once loops marked `unroll` are expanded.
struct Tile {
  std::string name;
  DType dtype = DType::kF32;
  int lanes = 1;
  std::vector<int64_t> dims;  // empty: one value
};

// Invariant: buffers are ordered inputs, outputs (the order of the call's operands), then scratch.
struct Kernel {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<Var> vars;  // [0] is the task, [1] the lane
  std::vector<Tile> tiles;
  std::vector<Stmt> body;
  int64_t task_count = 1;
  int64_t scratch_bytes = 0;

  Kernel();
  int lanes() const { return vars[kLaneVar].lanes; }  // of this kernel's vectors; 1: scalar code
  bool has_lanes(const Index& index) const;           // depends on `lane` (in a vector kernel) or on a vector variable
  // Each lane's index is the one before plus one: contiguous memory. False for an index without lanes.
  bool is_contiguous(const Index& index) const;
  int64_t low(const Index& index) const;   // least and greatest value that the variables' ranges allow;
  int64_t high(const Index& index) const;  // `lane` counts as 0 .. lanes-1 of its range
};

// Gives every scratch buffer its place, and the kernel its scratch_bytes.
void lay_out_scratch(Kernel& kernel);

// The range and multiples that a kFor statement's bounds imply for its variable.
void set_loop_range(const Kernel& kernel, const Stmt& loop, Var& var);

// The parts of a verification that were trusted and not proved.
struct Unproved {
  int trusted_count = 0;      // variables whose ranges were trusted
  bool is_exhausted = false;  // whether proofs took so long that guards of accesses were trusted
};

// The three joints of every form. print is deterministic; parse(print(k)) gives an equal kernel;
// verify throws a kBug error.
std::string print(const Kernel& kernel);
Kernel parse_kernel(std::string_view text);
Unproved verify(const Kernel& kernel);

// A name-independent text of everything that matters: equal keys are equal machine code.
std::string structural_key(const Kernel& kernel);

}  // namespace ingot::loops
