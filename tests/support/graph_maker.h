// What the recipes of random graphs write with: a block, the values that can be read in it,
// and what they are for the examples.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "aot/graph/tensor.h"
#include "aot/ops/support/build.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_tensor.h"

namespace ingot {

class GraphMaker {
 public:
  using Fits = std::function<bool(const TensorType&)>;

  GraphMaker(Random& random, const RandomGraphOptions& options, Function& function);
  // In a region of an op that `outer` is about to make: what can be read there can be read here. `carried` are the
  // tensors that the region's arguments start as.
  GraphMaker(GraphMaker& outer, Block& region, const std::vector<RefTensor>& carried = {});

  Random& random;
  GraphBuilder b;

  int depth() const { return depth_; }
  const RandomGraphOptions& options() const { return options_; }

  // --- types ---
  int64_t extent();
  Shape shape();  // the graph's base shape, or some of its dimensions, or others
  Shape shape(int rank);
  DType dtype();  // f32 most often
  DType float_dtype();
  bool is_small(const Shape& shape) const { return element_count(shape) <= options_.elements_max; }

  // --- values ---
  Value* any();                  // later ones more often: graphs grow deep
  Value* any(const Fits& fits);  // null where nothing fits
  Value* of(const TensorType&);  // one that is there, or made of one, or an argument, or a constant
  Value* other(Value* x) { return of(x->type); }
  Value* argument(const RefTensor& example);
  Value* constant(const TensorType&);
  const RefTensor& tensor_of(const Value* value);

  // --- recipes ---
  // Follows it. What infer refuses and what the examples make infinite or NaN is taken back, nearly always; whether
  // something stayed.
  bool follow(const std::function<void(GraphMaker&)>& recipe);
  // The result of `op` with these operands.
  Op* make(const OpDef& op, Values operands, AttrMap attrs = {}, std::vector<TensorType> declared = {},
           std::vector<std::unique_ptr<Block>> regions = {});
  void grow(int recipes);  // random ones of the table

 private:
  struct Known {
    Value* value;
    std::shared_ptr<const RefTensor> tensor;
  };

  void learn(Value* value, RefTensor tensor);
  // Evaluates the ops made since the last time. Whether all of their results are numbers of everyday size.
  bool settle();
  void forget_ops_from(size_t op_count);

  const RandomGraphOptions& options_;
  Function& function_;
  Block& block_;
  Shape base_;
  int depth_ = 0;
  std::vector<Known> known_;
  size_t settled_op_count_ = 0;
};

// One way to continue a graph.
struct Recipe {
  std::string_view name;
  double weight;  // how often, of the sum of all
  void (*make)(GraphMaker&);
};
const std::vector<Recipe>& recipes();  // all of these:
std::vector<Recipe> elementwise_recipes();
std::vector<Recipe> moving_recipes();
std::vector<Recipe> combining_recipes();
std::vector<Recipe> nesting_recipes();
std::vector<Recipe> quantized_recipes();

}  // namespace ingot
