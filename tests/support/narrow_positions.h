// Random programs that compute with positions, in types that do not have all of them.
#pragma once

#include <memory>

#include "aot/ops/support/build.h"
#include "tests/support/random_tensor.h"

namespace ingot {

// Makes tensors of positions: iotas of narrow integers and floats, and arithmetic, comparisons and moves of them. Each
// op is exact, or rounds or wraps once, so that there is one right result.
class PositionMaker {
 public:
  PositionMaker(Random& random, Function& function);

  Random& random;
  GraphBuilder b;

  DType narrow_dtype();
  DType index_dtype();    // of narrow integers, or i32
  int64_t long_extent();  // mostly 257 .. 1095, with odd divisors: parts start at positions that bf16 does not have
  int64_t short_extent() { return 2 + random.below(24); }
  Value* argument(const TensorType& type);  // with a random example
  Value* constant(const TensorType& type);

  Value* positions(const TensorType& type, int depth);
  Value* positions(const Shape& shape) { return positions({narrow_dtype(), shape}, static_cast<int>(random.below(4))); }
  // From -4 to 4, in f32; most of them tell neighbouring positions far apart.
  Value* factor(const Shape& shape);
  Value* mask(const Shape& shape);

 private:
  Value* leaf(const TensorType& type);
  Value* combined(const TensorType& type, int depth);
  Value* converted(const TensorType& type, int depth);
  Value* chosen(const TensorType& type, int depth);
  Value* moved(const TensorType& type, int depth);
  Value* cut(const TensorType& type, int depth);
  Value* padded(const TensorType& type, int depth);
  Value* joined(const TensorType& type, int depth);
  Value* renamed(const TensorType& type, int depth);
  Value* indexed(const TensorType& type, int depth);
  Value* reduced(const TensorType& type, int depth);
  Value* windows(const TensorType& type, int depth);
  int64_t any_dim(const Shape& shape) { return random.below(static_cast<int64_t>(shape.size())); }

  Function& function_;
  bool is_plain_ = false;  // positions at hand are made element by element: they can be made anywhere
};

// softmax(scores) along the last dimension.
Value* softmax_of_rows(GraphBuilder& b, Value* scores);

// A module with one function @main, whose arguments have examples (random_graph.h). Its results are finite. The same
// seed gives the same module.
std::unique_ptr<Module> narrow_program(uint64_t seed);

}  // namespace ingot
