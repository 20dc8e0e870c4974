#include "aot/ops/support/dimension_numbers.h"

#include <fmt/format.h>

#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"

namespace ingot::ops {
namespace {

// Empty lists are not written, as in StableHLO's own text.
DictAttr tagged(std::string tag, const std::vector<std::pair<std::string, std::vector<int64_t>>>& lists) {
  DictAttr dict{std::move(tag), {}};
  for (const auto& [name, values] : lists) {
    if (!values.empty()) dict.entries.emplace(name, values);
  }
  return dict;
}

}  // namespace

DotDims read_dot_dims(const Attrs& attrs) {
  const Attrs dims = attrs.dict("dot_dimension_numbers");
  return {dims.ints("lhs_batching_dimensions", {}), dims.ints("rhs_batching_dimensions", {}),
          dims.ints("lhs_contracting_dimensions", {}), dims.ints("rhs_contracting_dimensions", {})};
}

// All four lists, as the pretty form reads them.
Attr to_attr(const DotDims& dims) {
  return DictAttr{"stablehlo.dot",
                  {{"lhs_batching_dimensions", dims.lhs_batch},
                   {"rhs_batching_dimensions", dims.rhs_batch},
                   {"lhs_contracting_dimensions", dims.lhs_contract},
                   {"rhs_contracting_dimensions", dims.rhs_contract}}};
}

Convolution read_convolution(const Attrs& attrs, const Shape& kernel) {
  const Attrs numbers = attrs.dict("dimension_numbers");
  Convolution conv;
  conv.dims = {.input_batch = numbers.integer("input_batch_dimension"),
               .input_feature = numbers.integer("input_feature_dimension"),
               .input_spatial = numbers.ints("input_spatial_dimensions", {}),
               .kernel_input_feature = numbers.integer("kernel_input_feature_dimension"),
               .kernel_output_feature = numbers.integer("kernel_output_feature_dimension"),
               .kernel_spatial = numbers.ints("kernel_spatial_dimensions", {}),
               .output_batch = numbers.integer("output_batch_dimension"),
               .output_feature = numbers.integer("output_feature_dimension"),
               .output_spatial = numbers.ints("output_spatial_dimensions", {})};
  conv.feature_groups = attrs.integer("feature_group_count", 1);
  conv.batch_groups = attrs.integer("batch_group_count", 1);

  const size_t rank = conv.dims.kernel_spatial.size();
  const auto strides = ints_or(attrs, "window_strides", rank, 1);
  const auto padding = ints_or(attrs, "padding", 2 * rank, 0);
  const auto base = ints_or(attrs, "lhs_dilation", rank, 1);
  const auto dilation = ints_or(attrs, "rhs_dilation", rank, 1);
  const auto reversal = ints_or(attrs, "window_reversal", rank, 0);
  for (size_t d = 0; d < rank; ++d) {
    const auto entry = [&](const std::vector<int64_t>& values) { return d < values.size() ? values[d] : -1; };
    const int64_t dim = conv.dims.kernel_spatial[d];
    const bool exists = dim >= 0 && dim < static_cast<int64_t>(kernel.size());
    WindowDim window{.size = exists ? kernel[dim] : 0,
                     .stride = entry(strides),
                     .base_dilation = entry(base),
                     .dilation = entry(dilation),
                     .reversed = entry(reversal) > 0};
    if (padding.size() == 2 * rank) {
      window.low = padding[2 * d];
      window.high = padding[2 * d + 1];
    }
    conv.window.push_back(window);
  }
  return conv;
}

AttrMap to_attrs(const Convolution& conv) {
  DictAttr numbers{"stablehlo.conv",
                   {{"input_batch_dimension", IntAttr{conv.dims.input_batch}},
                    {"input_feature_dimension", IntAttr{conv.dims.input_feature}},
                    {"input_spatial_dimensions", conv.dims.input_spatial},
                    {"kernel_input_feature_dimension", IntAttr{conv.dims.kernel_input_feature}},
                    {"kernel_output_feature_dimension", IntAttr{conv.dims.kernel_output_feature}},
                    {"kernel_spatial_dimensions", conv.dims.kernel_spatial},
                    {"output_batch_dimension", IntAttr{conv.dims.output_batch}},
                    {"output_feature_dimension", IntAttr{conv.dims.output_feature}},
                    {"output_spatial_dimensions", conv.dims.output_spatial}}};
  std::vector<int64_t> strides, base, dilation;
  IntsAttr reversal{{}, DType::kI1};
  for (const WindowDim& dim : conv.window) {
    strides.push_back(dim.stride);
    base.push_back(dim.base_dilation);
    dilation.push_back(dim.dilation);
    reversal.values.push_back(dim.reversed);
  }
  return {{"dimension_numbers", std::move(numbers)},
          {"window_strides", strides},
          {"padding", padding_attr(conv.window)},
          {"lhs_dilation", base},
          {"rhs_dilation", dilation},
          {"window_reversal", std::move(reversal)},
          {"feature_group_count", IntAttr{conv.feature_groups}},
          {"batch_group_count", IntAttr{conv.batch_groups}}};
}

std::vector<int64_t> IndexedDims::kept_dims(int operand_rank) const {
  std::vector<int64_t> gone = dropped_dims;
  gone.insert(gone.end(), operand_batch.begin(), operand_batch.end());
  return other_dims(operand_rank, gone);
}

std::vector<int64_t> IndexedDims::batch_dims(int batched_rank) const { return other_dims(batched_rank, window_dims); }

IndexedDims read_gather_dims(const Attrs& attrs) {
  const Attrs dims = attrs.dict("dimension_numbers");
  return {dims.ints("offset_dims", {}),           dims.ints("collapsed_slice_dims", {}),
          dims.ints("operand_batching_dims", {}), dims.ints("start_indices_batching_dims", {}),
          dims.ints("start_index_map", {}),       dims.integer("index_vector_dim", 0)};
}

IndexedDims read_scatter_dims(const Attrs& attrs) {
  const Attrs dims = attrs.dict("scatter_dimension_numbers");
  return {dims.ints("update_window_dims", {}),           dims.ints("inserted_window_dims", {}),
          dims.ints("input_batching_dims", {}),          dims.ints("scatter_indices_batching_dims", {}),
          dims.ints("scatter_dims_to_operand_dims", {}), dims.integer("index_vector_dim", 0)};
}

AttrMap gather_attrs(const IndexedDims& dims, const Shape& slice_sizes) {
  DictAttr numbers = tagged("stablehlo.gather", {{"offset_dims", dims.window_dims},
                                                 {"collapsed_slice_dims", dims.dropped_dims},
                                                 {"operand_batching_dims", dims.operand_batch},
                                                 {"start_indices_batching_dims", dims.indices_batch},
                                                 {"start_index_map", dims.index_map}});
  numbers.entries.emplace("index_vector_dim", IntAttr{dims.index_vector_dim});
  return {{"dimension_numbers", std::move(numbers)}, {"slice_sizes", slice_sizes}, {"indices_are_sorted", false}};
}

AttrMap scatter_attrs(const IndexedDims& dims) {
  DictAttr numbers = tagged("stablehlo.scatter", {{"update_window_dims", dims.window_dims},
                                                  {"inserted_window_dims", dims.dropped_dims},
                                                  {"input_batching_dims", dims.operand_batch},
                                                  {"scatter_indices_batching_dims", dims.indices_batch},
                                                  {"scatter_dims_to_operand_dims", dims.index_map}});
  numbers.entries.emplace("index_vector_dim", IntAttr{dims.index_vector_dim});
  return {{"scatter_dimension_numbers", std::move(numbers)}, {"indices_are_sorted", false}, {"unique_indices", false}};
}

void check_indexed_dims(const InferArgs& args, const IndexedDims& dims, const Shape& operand, const Shape& indices,
                        int batched_rank) {
  const int operand_rank = static_cast<int>(operand.size());
  const int indices_rank = static_cast<int>(indices.size());
  if (dims.index_vector_dim < 0 || dims.index_vector_dim > indices_rank) {
    args.fail(fmt::format("index_vector_dim = {} must be in 0 .. {}, the rank of the indices", dims.index_vector_dim,
                          indices_rank));
  }
  check_dims(args, "window (offset) dims", dims.window_dims, batched_rank);
  check_dims(args, "collapsed (inserted) dims", dims.dropped_dims, operand_rank);
  check_dims(args, "operand batching dims", dims.operand_batch, operand_rank);
  check_dims(args, "indices batching dims", dims.indices_batch, indices_rank);
  check_dims(args, "index map", dims.index_map, operand_rank);
  const size_t windows = dims.window_dims.size() + dims.dropped_dims.size() + dims.operand_batch.size();
  if (static_cast<int>(windows) != operand_rank || dims.kept_dims(operand_rank).size() != dims.window_dims.size()) {
    args.fail(fmt::format(
        "window dims {}, collapsed (inserted) dims {} and batching dims {} must cover the operand's {} "
        "dimensions once",
        to_string(dims.window_dims), to_string(dims.dropped_dims), to_string(dims.operand_batch), operand_rank));
  }
  const int64_t components = dims.index_vector_dim < indices_rank ? indices[dims.index_vector_dim] : 1;
  if (static_cast<int64_t>(dims.index_map.size()) != components) {
    args.fail(fmt::format("an index vector has {} components, the index map {} names {} dimensions", components,
                          to_string(dims.index_map), dims.index_map.size()));
  }
  if (dims.operand_batch.size() != dims.indices_batch.size()) {
    args.fail("the operand's and the indices' batching dims must be as many");
  }
  for (size_t k = 0; k < dims.operand_batch.size(); ++k) {
    if (dims.indices_batch[k] == dims.index_vector_dim) args.fail("index_vector_dim cannot be a batching dimension");
    if (operand[dims.operand_batch[k]] == indices[dims.indices_batch[k]]) continue;
    args.fail(fmt::format("batching dimensions {} of the operand and {} of the indices have {} and {} elements",
                          dims.operand_batch[k], dims.indices_batch[k], operand[dims.operand_batch[k]],
                          indices[dims.indices_batch[k]]));
  }
}

Shape batch_shape(const IndexedDims& dims, const Shape& indices) {
  Shape shape = indices;
  if (dims.index_vector_dim < static_cast<int64_t>(shape.size())) shape.erase(shape.begin() + dims.index_vector_dim);
  return shape;
}

}  // namespace ingot::ops
