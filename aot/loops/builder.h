// Builds a kernel: statements go to the innermost open block; expressions are simplified as they are made.
//
// Values that are the same in every lane stay single: an operation on splats gives one lane, and whoever needs a vector
// (a store at a vector index, a vector tile, an operation beside a vector) splats it. Buffers are declared inputs
// first, then outputs, then scratch.
#pragma once

#include <functional>
#include <set>
#include <tuple>

#include "aot/loops/loop.h"

namespace ingot::loops {

class KernelBuilder {
 public:
  // `vector_lanes`: lanes of the vectors this kernel uses (1: scalar code).
  KernelBuilder(std::string name, int vector_lanes);

  Kernel& kernel() { return kernel_; }
  int vector_lanes() const { return vector_lanes_; }

  BufferId input(std::string name, DType dtype, int64_t elements);
  // `may_alias`: an input whose memory this output may share (see Buffer::may_alias), -1 for none.
  BufferId output(std::string name, DType dtype, int64_t elements, BufferId may_alias = -1);
  BufferId scratch(std::string name, DType dtype, int64_t elements);  // this thread's; 64-byte aligned
  TileId tile(std::string name, DType dtype, int lanes, std::vector<int64_t> dims = {});

  // --- statements ---
  void set_task_count(int64_t count);  // before any statement; 1 when never said
  // body(i) with i in lower .. upper by step. Trip count 1 makes no loop: `i` is then the constant.
  void loop(const std::string& name, Index lower, Index upper, int64_t step, const std::function<void(Index)>& body,
            std::vector<Index> upper_also = {});
  void unrolled(const std::string& name, int64_t count, const std::function<void(Index)>& body, bool apart = false);
  void if_then(Expr condition, const std::function<void()>& then, const std::function<void()>& otherwise = {});
  Expr let(const std::string& name, Expr value);  // computed here once; the result names it
  // An integer value as an index; `verify` proves that it lies in [low, high]. Vector values make gathers.
  Index let_index(const std::string& name, Expr value, int64_t low, int64_t high);
  // The same where the range cannot be proved, as it follows from data that other statements wrote.
  Index trusted_index(const std::string& name, Expr value, int64_t low, int64_t high);
  void set(TileId tile, std::vector<Index> indices, Expr value);
  void store(BufferId buffer, Index index, Expr value, Expr mask = nullptr);
  void prefetch(BufferId buffer, Index index);
  void transpose(TileId tile);  // a tile of one dimension, as long as its vectors
  // A whole kernel, its tasks one after the other; it has scratch of its own. `buffers`: what stands for its inputs and
  // outputs, from an element on. Its vectors have as many lanes as this kernel's, or it has none.
  struct BufferPart {
    BufferId buffer;
    Index first;
  };
  void run(const Kernel& kernel, const std::vector<BufferPart>& buffers);

  // --- expressions (constants fold, splats are inserted, x + 0 and the like vanish where that is exact) ---
  Expr constant(DType dtype, double value);
  Expr constant_int(DType dtype, int64_t value);
  Expr constant_bits(DType dtype, uint64_t bits);
  Expr index_value(const Index& index, DType dtype = DType::kI64);
  Expr load(BufferId buffer, const Index& index, Expr mask = nullptr);  // lanes follow from the index
  Expr reload(BufferId buffer, const Index& index);                     // ExprNode::is_again
  Expr read(TileId tile, std::vector<Index> indices = {});
  Expr apply(ScalarOp op, std::vector<Expr> args);
  Expr convert(DType to, Expr value);
  Expr bitcast(DType to, Expr value);
  Expr round(DType to, Expr value);  // to f16 or bf16 precision (f32 stays f32)
  Expr splat(Expr value, int lanes);
  Expr reduce(ScalarOp op, Expr value);

  // --- integer helpers ---
  Index lane() const { return vector_lanes_ > 1 ? Index::variable(kLaneVar) : Index(0); }
  Index task() const { return Index::variable(kTaskVar); }
  bool has_lanes(const Index& index) const { return kernel_.has_lanes(index); }
  // Floor division and remainder by a positive constant. Terms that the variables' ranges settle need no instruction;
  // what remains becomes a `let`.
  Index divide(const Index& index, int64_t by);
  Index modulo(const Index& index, int64_t by);
  // lower <= index < upper as i1; null when the ranges prove it.
  Expr in_range(const Index& index, int64_t lower, int64_t upper);
  Expr both(Expr a, Expr b);  // conjunction; null means true

  Kernel finish();  // lays out scratch, verifies

 private:
  // An open block of statements and the divisions computed in it, which later statements of it may use again.
  struct Block {
    std::vector<Stmt>* statements;
    std::vector<std::tuple<Index, int64_t, Index>> quotients;
  };

  std::string unique_name(std::string name);
  BufferId buffer(std::string name, DType dtype, int64_t elements, BufferRole role);
  VarId variable(const std::string& name, VarKind kind, DType dtype, int lanes, int64_t low, int64_t high);
  void append(Stmt stmt);
  void fill(std::vector<Stmt>& block, const std::function<void()>& body);
  Index settle(const Index& index) const;  // variables with a single value become constants
  int64_t multiple_of(const Index::Term& term) const;

  Kernel kernel_;
  int vector_lanes_;
  std::vector<Block> open_;  // innermost last
  std::set<std::string> names_;
};

}  // namespace ingot::loops
