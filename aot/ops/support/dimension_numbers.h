// The dimension numbers of dot_general, convolution, gather and scatter, read from attributes and written to them.
#pragma once

#include <vector>

#include "aot/ops/support/window.h"

namespace ingot::ops {

struct DotDims {
  std::vector<int64_t> lhs_batch, rhs_batch, lhs_contract, rhs_contract;
};

DotDims read_dot_dims(const Attrs& attrs);
Attr to_attr(const DotDims& dims);

// Which dimension of a convolution's operands and result is what. Spatial lists are in one order.
struct ConvDims {
  int64_t input_batch, input_feature;
  std::vector<int64_t> input_spatial;
  int64_t kernel_input_feature, kernel_output_feature;
  std::vector<int64_t> kernel_spatial;
  int64_t output_batch, output_feature;
  std::vector<int64_t> output_spatial;
};

struct Convolution {
  ConvDims dims;
  Window window;  // one for each spatial dimension; sizes are the kernel's
  int64_t feature_groups = 1, batch_groups = 1;
};

Convolution read_convolution(const Attrs& attrs, const Shape& kernel);
AttrMap to_attrs(const Convolution& convolution);

// How gather and scatter find windows of an operand. The batched tensor (gather's result, scatter's updates) has window
// dimensions, which run over a window of the operand, and batch dimensions, which run over index vectors; an index
// vector lies along index_vector_dim of the indices and says where a window starts.
struct IndexedDims {
  std::vector<int64_t> window_dims;    // of the batched tensor: offset_dims, update_window_dims
  std::vector<int64_t> dropped_dims;   // of the operand, window extent 1: collapsed_slice_dims, inserted_window_dims
  std::vector<int64_t> operand_batch;  // of the operand, window extent 1, in step with ...
  std::vector<int64_t> indices_batch;  // ... these of the indices
  std::vector<int64_t> index_map;  // operand dimension of each component: start_index_map, scatter_dims_to_operand_dims
  int64_t index_vector_dim = 0;

  // The operand's dimensions that the window dims of the batched tensor stand for, in order.
  std::vector<int64_t> kept_dims(int operand_rank) const;
  // Dimensions of the batched tensor that are not window dims; in step with the indices' dims but index_vector_dim.
  std::vector<int64_t> batch_dims(int batched_rank) const;

  // Where, in the indices, component `component` for the batched element `at` is. `I` is int64_t or loops::Index.
  template <typename I>
  std::vector<I> indices_at(const std::vector<I>& at, int indices_rank, int64_t component) const {
    std::vector<I> result;
    for (int64_t dim : batch_dims(static_cast<int>(at.size()))) result.push_back(at[dim]);
    if (index_vector_dim < indices_rank) result.insert(result.begin() + index_vector_dim, I(component));
    return result;
  }

  // Where, in the operand, the batched element `at` is when its index vector is zero.
  template <typename I>
  std::vector<I> operand_at(const std::vector<I>& at, int operand_rank) const {
    std::vector<I> result(operand_rank, I(0));
    const std::vector<int64_t> kept = kept_dims(operand_rank);
    for (size_t w = 0; w < kept.size(); ++w) result[kept[w]] = at[window_dims[w]];
    const std::vector<int64_t> batch = batch_dims(static_cast<int>(at.size()));
    for (size_t k = 0; k < operand_batch.size(); ++k) {
      const int64_t dim = indices_batch[k];
      result[operand_batch[k]] = at[batch[dim < index_vector_dim ? dim : dim - 1]];
    }
    return result;
  }
};

IndexedDims read_gather_dims(const Attrs& attrs);
IndexedDims read_scatter_dims(const Attrs& attrs);
AttrMap gather_attrs(const IndexedDims& dims, const Shape& slice_sizes);
AttrMap scatter_attrs(const IndexedDims& dims);

// Fails unless the dimension numbers fit the operand, the indices and the batched tensor's rank.
void check_indexed_dims(const InferArgs& args, const IndexedDims& dims, const Shape& operand, const Shape& indices,
                        int batched_rank);

// The indices' shape without index_vector_dim.
Shape batch_shape(const IndexedDims& dims, const Shape& indices);

}  // namespace ingot::ops
