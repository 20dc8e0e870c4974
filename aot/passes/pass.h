// Graph-to-graph passes. Each is a verb, one file, and one function that says whether it changed anything.
//
// Every pass keeps the meaning: evaluate(before) == evaluate(after), up to what a pass states. Every pass is
// idempotent. The order in which they run, and what holds after each, is the table in aot/pipeline/passes.cc.
#pragma once

#include <string>
#include <vector>

#include "aot/graph/attributes.h"
#include "aot/graph/op.h"
#include "aot/loops/target.h"

namespace ingot {

// Why two ops that could have shared a kernel do not: what --explain=fuse prints.
struct FuseNote {
  Location location;               // of the consumer
  std::string producer, consumer;  // op names
  std::string reason;
};

// How a convolution's tensors lie: what --explain=layout prints. Predicted nanoseconds.
struct LayoutNote {
  Location location;
  bool is_kernel_gradient = false;
  std::vector<std::vector<int64_t>> orders;  // of operands and result: the program's dimensions as they lie
  double chosen_ns = 0;
  double written_ns = 0;  // all as the program has them
  double last_ns = 0;     // all with channels last
};

// A product or convolution, and whether it can be one of 8-bit integers.
struct ProductNote {
  Location location;
  std::string name;       // what the framework calls it, or where it stands
  std::string why_float;  // why it stays in floats; "" where it need not
};

// A product, and how quantize_weights keeps its weights.
struct WeightNote {
  std::string name;       // what the framework calls it, or where it stands
  std::string why_float;  // why they stay floats; "" where they do not
  int bits = 32;
  int64_t elements = 0, bytes = 0;  // of those that are integers, scales among the bytes
  bool is_observed = false;         // the product's result is one of the program: it stands in no loop or branch
};

// What of products whose weights become integers is a result of the program, behind its own.
enum class ObservedWeights {
  kNone,
  kGiven,   // what each product gives
  kBeside,  // and what it gives with integers; the program goes on with floats
};

struct SeenRange {
  double low = 0, high = 0;
};

// What quantize_products does. Products are numbered as its notes are.
struct ProductQuantization {
  std::vector<std::string> kept = {};  // patterns (fnmatch) of names of products that stay in floats
  std::vector<SeenRange> ranges =
      {};                     // of the tensor that each product reads; none: they are not known yet, and all stay
  bool is_beside = false;     // the program goes on with products of floats, and those of integers stand beside
  bool are_observed = false;  // what each product reads and gives, and what one beside it gives, are results, behind
                              // the program's own
};

// A size or shape that the user gives for what a program leaves open: of a dimension by the name that
// attributes::kDims gives it, of an argument of an entry point, or the value of such a scalar integer.
struct GivenShape {
  std::string name;
  Shape sizes;           // one, or one for each dimension
  bool is_used = false;  // set by refine_shapes: there is something of that name
};

// Which products and sums may stand in place of the program's (use_winograd).
enum class Math : uint8_t {
  kExact,     // none: they are the program's, in whatever order
  kStandard,  // those whose rounding errors are about as large; what is compared is 0 where the program's terms all are
  kFast,      // those whose rounding errors are about as large
};

// In how many parts, one after the other, the batch of an entry point is computed (split_batch).
struct MicroBatches {
  std::string entry;      // empty: every entry point that has a batch and for which there is no other
  int64_t count = 1;      // 1: as a whole
  bool is_least = false;  // the next number that divides the rows will do, too
};
// The row of `all` that is for an entry point; null: none is.
const MicroBatches* micro_batches_for(const std::string& entry, const std::vector<MicroBatches>& all);

// The user's error that a batch is not computed in so many parts.
class CannotSplit : public Error {
 public:
  CannotSplit(const Function& entry, const std::string& why);

  const std::string& entry() const { return entry_; }

 private:
  std::string entry_;
};

struct MicroBatchNote {
  std::string entry;
  int64_t count = 1;
  int64_t rows = 0;  // of each part
};

// What passes share: options in, notes out.
struct PassContext {
  const loops::Target* target = &loops::all_targets()[0];  // the first of those that the program is compiled for
  std::vector<GivenShape> shapes;
  int64_t fold_bytes_max = 1024;        // a folded constant may have this size, or that of the constants it replaces
  int64_t fold_elements_max = 1 << 20;  // elements that are evaluated at most to fold one op
  bool folds_scales = true;             // fold_scales does, which rounds sums otherwise
  Math math = Math::kStandard;
  const ProductQuantization* quantization = nullptr;  // null: quantize_products does nothing
  std::vector<ProductNote> product_notes;             // filled by quantize_products
  int weight_bits = 0;                                // of integers, 8 or 4; 0: floats stay
  ObservedWeights observed_weights = ObservedWeights::kNone;
  std::vector<WeightNote> weight_notes;           // filled by quantize_weights
  std::vector<MicroBatches> micro_batches;        // at most one for each entry point
  std::vector<MicroBatchNote> micro_batch_notes;  // filled by split_batch
  std::vector<FuseNote> fuse_notes;               // filled by fuse
  std::vector<LayoutNote> layout_notes;           // filled by assign_layouts
};

// Makes loops of what was unrolled: the same ops again and again, each time of what the time before made, of windows of
// tensors, or of what is always the same. Sums that started as 0 add to a 0, which changes the sign of a zero at most.
bool roll_loops(Module& module, PassContext& context);

// Replaces calls and composites by the bodies they name; private functions disappear. A location becomes "where in the
// callee, called at". Recursion is the user's error.
bool inline_calls(Module& module, PassContext& context);

// Puts what OpDef::expand makes in an op's place, until no op expands.
bool expand(Module& module, PassContext& context);

// Puts two real values in the place of each complex one (OpDef::split): nothing below knows complex numbers. Complex
// arguments and results of a function become real ones with one more, last dimension of 2: the same bytes. Functions
// without calls.
bool split_complex(Module& module, PassContext& context);

// Removes all tokens: nothing happens outside of a program that they could order.
bool drop_tokens(Module& module, PassContext& context);

// Gives every value its shape, from the arguments down: result types follow from operands' types, ops whose result's
// shape is a value (dynamic_reshape, ...) become static ones, sizes that are asked for become constants and assertions
// about them are checked. A dimension that stays unknown is the user's error. Functions without calls.
bool refine_shapes(Module& module, PassContext& context);

// Quantized tensors become their integers; ops on them compute with the expressed floats and quantize, contractions sum
// up integers. Functions take and give the integers.
bool quantize_to_integers(Module& module, PassContext& context);

// Floats of eight bits and fewer become the integers that have their bits; ops on them compute in f32 and round.
// Functions take and give the integers.
bool widen_floats(Module& module, PassContext& context);

// An elementwise op or a contraction that gives bf16, and is converted to f32 at once, gives f32: it is not rounded in
// between, as by XLA on processors. Values that others read as well are rounded for them. One step only: what the op
// reads has been rounded.
bool widen_results(Module& module, PassContext& context);

// x + s * scatter(zeros, rows, updates), with a scalar s and few updates, becomes scatter(x, rows, s * updates): a step
// of gradient descent touches the rows of a table that its batch names. Rows that are named several times are added one
// after the other, so sums may differ in rounding; elements that no update names stay as they are, whatever s is.
bool update_rows(Module& module, PassContext& context);

// Removes optimization_barrier. Late: until then it keeps what the user asked to keep apart.
bool drop_barriers(Module& module, PassContext& context);

// Evaluates ops whose operands are constants. A splat stays a splat; no large constant appears; where a NaN is involved
// nothing is folded, so that its payload stays as it would be at run time.
bool fold_constants(Module& module, PassContext& context);

// Applies the rules of simplify_rules.h until none applies.
bool simplify(Module& module, PassContext& context);

// Makes equal ops (op, operands, attributes, regions) one.
bool cse(Module& module, PassContext& context);

// Removes ops whose results nobody reads. The function's results, state among them, are read.
bool dce(Module& module, PassContext& context);

// Puts the only branch that can be taken in the place of a case or if; what all branches return alike, or nobody reads,
// is no result any more.
bool simplify_branches(Module& module, PassContext& context);

// Carried values of loops: what stays the same becomes a value from outside, equal ones become one, and what only feeds
// itself goes.
bool simplify_loops(Module& module, PassContext& context);

// A stack of which only the row that the last iteration wrote is read becomes that row, carried.
bool carry_last_rows(Module& module, PassContext& context);

// Makes rows where a loop reads them, one in each iteration, by cheap ops that would fill a stack before it from less.
bool sink_rows(Module& module, PassContext& context);

// Unrolls loops of zero or one iteration, and short ones whose bodies then share a kernel.
bool unroll_loops(Module& module, PassContext& context);

// Moves what is loop-invariant before the loop, where the loop then computes less and reads no more.
bool hoist(Module& module, PassContext& context);

// Products of a stack's rows by a matrix that stays the same, where an iteration waits for the matrix: all rows are
// multiplied at once before the loop.
bool hoist_rows(Module& module, PassContext& context);

// A loop saves a value of each iteration for a later loop: that is recomputed from other saved values where a few cheap
// ops do.
bool recompute_stacks(Module& module, PassContext& context);

// Products that a loop adds up, one in each iteration, become one product behind it that sums over the iterations as
// well, where the factors of all of them lie in memory and are fewer than what adding them up moves. Floats are added in
// another order.
bool join_iterations(Module& module, PassContext& context);

// The batch of entry points is computed in parts, in a loop that adds up what is summed over its rows, as gradients are:
// their intermediate values take as much less memory. Sums are in another order; else every row is computed as before.
// Only where rows are proved not to depend on each other, but through sums that no row reads; an Error says what does.
bool split_batch(Module& module, PassContext& context);

// Constants that scale and shift the features of a contraction by constant weights (BatchNorm of running moments, a
// bias before it) become part of the weights and one constant that is added. Features are rounded once, as weights.
bool fold_scales(Module& module, PassContext& context);

// Products and convolutions of constant weights become those of 8-bit integers, from the ranges of values that
// PassContext::quantization has: unsigned ones of the tensor, with one scale and zero point, by signed ones of the
// weights, with a scale for each channel. Both stand in the graph dequantized, as in ONNX's QDQ models; sum_integers
// follows. Does nothing where there is no quantization.
bool quantize_products(Module& module, PassContext& context);

// Constant weights of products of f32 become integers of PassContext::weight_bits bits and their scales (stored_weights.h);
// those that a program has as integers times scales stay what they are, in as few bits, whatever is asked for. What they are multiplied by, and the sums, stay f32.
bool quantize_weights(Module& module, PassContext& context);

// Products of integers of few bits times constant scales (quantized tensors as floats) become products of the integers,
// times the scales: the sums are exact, and what is left is rounded once for each result.
bool sum_integers(Module& module, PassContext& context);

// Products of integers that are known to fit in bytes become products of four bytes each: an i32 holds four neighbours
// along the depth, one operand's unsigned, the other's signed; what they are less than the integers is added to the sums.
// Exact, as sums of i32 wrap.
bool multiply_bytes(Module& module, PassContext& context);

// Chooses for each tensor around convolutions the order in which its dimensions lie: as written, or channels last,
// whichever costs less with the transposes where both meet. Arguments, results, loops and branches stay as written.
bool assign_layouts(Module& module, PassContext& context);

// The loop that split_batch made of a function's batch; null where it made none.
Op* micro_batches_of(const Function& function);

// Recomputes cheap values next to their late uses instead of keeping them across the point of peak memory: what is kept
// there is the least number of bytes, by a minimum cut. Skipped where it saves less than 1/16 of the peak. The copies
// are marked.
inline bool is_recomputed(const Op& op) { return op.attr_map.contains(attributes::kRecomputed); }
bool rematerialize(Module& module, PassContext& context);

// Makes one product of those that a sum adds up: x y + u v is [x, u] times y over v (joined_depth.h). Floats are added
// in another order.
bool join_products(Module& module, PassContext& context);

// A product of few rows by a large concatenation becomes products by its parts, which are read where they lie: keys and
// values of a cache with those of one more token. They are added up, which adds floats in another order, or stand side
// by side.
bool split_products(Module& module, PassContext& context);

// Notes on each loop how many iterations it has, where a constant bounds a carried counter: what costs are counted by.
bool count_trips(Module& module, PassContext& context);

// Marks the constants that a loop's stacks start as where the iterations overwrite every row and read none: nobody has
// to write them. Each is one of its own.
bool mark_unread(Module& module, PassContext& context);

// Says of products which of their terms need not be made (attributes::kTriangles): they are 0, or a mask hides the result.
// Not where only the program's own products are allowed (Math::kExact): 0 times what is no number is no number.
bool mark_triangles(Module& module, PassContext& context);

// Groups the ops of every function, and of the regions of its control flow, into ingot.kernel ops. What stays beside
// them: constants that are no splats, returns, and the control flow itself.
//
//   elementwise  any elementwise ops of one shape
//   contraction  a dot_general or convolution, views of its operands and what joins them along the
//                depth of a dot_general, elementwise ops on its result
//   rows         reductions over the last dimensions with everything elementwise around them, back to the full shape:
//                softmax, normalisations, cross-entropy
//   columns      reductions over other dimensions, elementwise ops before and after
//   alone        windows and elementwise ops on their result; scatters and updates, with elementwise ops before them
//
// What is cheap (views, splats, iota, a few flops on values that are there anyway) is computed again in each kernel
// that reads it. Nothing is computed more often than it has elements, except by views. Kernels never need each
// other's results.
bool fuse(Module& module, PassContext& context);

// Makes each op an ingot.kernel of its own, which reads and writes memory: what runs where `fuse` is skipped.
bool wrap_ops(Module& module, PassContext& context);

// Makes one kernel of kernels that hand on products of a batch with themselves, which are larger than what they are made
// of: attention, forward or backward. It is made block by block (aot/analysis/block_region.h), and what is handed on lies
// in scratch.
bool chain_kernels(Module& module, PassContext& context);

// Convolutions by windows of 3x3, a step apart, become products of transformed tiles (Winograd's minimal filtering), block
// by block of the batch, where that is predicted to take less time: fewer multiplications, and sums that are rounded
// otherwise. Does nothing where PassContext::math is exact, or for a strict target.
bool use_winograd(Module& module, PassContext& context);

// Notes on kernels which result takes the place of which operand when the plan has its way: of state, and of what a
// loop carries. Pairs of indices.
bool mark_replaced(Module& module, PassContext& context);

}  // namespace ingot
