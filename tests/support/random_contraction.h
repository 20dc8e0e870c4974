// Random dot_generals and convolutions: dimensions in every order, every kind of window.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "aot/ops/support/dimension_numbers.h"
#include "aot/ops/support/index.h"

namespace ingot {

class RandomContraction {
 public:
  // Extents are drawn from `extents`.
  RandomContraction(unsigned seed, std::vector<int64_t> extents) : engine_(seed), extents_(std::move(extents)) {}

  struct Dot {
    Shape lhs, rhs;
    ops::DotDims dims;
  };
  Dot dot() {
    Dot dot;
    const int batch = static_cast<int>(between(0, 2)), contract = static_cast<int>(between(0, 2));
    Shape common;
    for (int k = 0; k < batch + contract; ++k) common.push_back(extent());
    const auto operand = [&](std::vector<int64_t>& batch_dims, std::vector<int64_t>& contract_dims) {
      const int rank = batch + contract + static_cast<int>(between(0, 2));
      const std::vector<int64_t> place = permutation(rank);
      Shape shape(rank);
      for (int k = 0; k < rank; ++k) {
        shape[place[k]] = k < batch + contract ? common[k] : extent();
        if (k < batch) batch_dims.push_back(place[k]);
        if (k >= batch && k < batch + contract) contract_dims.push_back(place[k]);
      }
      return shape;
    };
    dot.lhs = operand(dot.dims.lhs_batch, dot.dims.lhs_contract);
    dot.rhs = operand(dot.dims.rhs_batch, dot.dims.rhs_contract);
    return dot;
  }

  struct Convolved {
    Shape input, kernel;
    ops::Convolution conv;
  };
  Convolved convolution() {
    const int spatial = static_cast<int>(between(0, 3)), rank = spatial + 2;
    Convolved it{Shape(rank), Shape(rank), {}};
    ops::Convolution& conv = it.conv;
    // Each channel by itself: channels last, or anywhere around images of one place.
    const bool is_apart = chance(25), is_point = is_apart && chance(30);
    (is_apart || chance(50) ? conv.feature_groups : conv.batch_groups) =
        is_apart ? std::max<int64_t>(1, extent()) : between(1, 3);
    std::vector<int64_t> in = permutation(rank), kernel = permutation(rank), out = permutation(rank);
    for (std::vector<int64_t>* const order : {&in, &out}) {
      if (is_apart && !is_point) std::swap((*order)[1], *std::ranges::find(*order, rank - 1));
    }
    conv.dims = {.input_batch = in[0],
                 .input_feature = in[1],
                 .input_spatial = {in.begin() + 2, in.end()},
                 .kernel_input_feature = kernel[0],
                 .kernel_output_feature = kernel[1],
                 .kernel_spatial = {kernel.begin() + 2, kernel.end()},
                 .output_batch = out[0],
                 .output_feature = out[1],
                 .output_spatial = {out.begin() + 2, out.end()}};
    const int64_t features = is_apart ? 1 : extent();
    it.input[in[0]] = between(1, 2) * conv.batch_groups;
    it.input[in[1]] = features * conv.feature_groups;
    it.kernel[kernel[0]] = features;
    it.kernel[kernel[1]] = (is_apart ? between(1, 2) : extent()) * conv.feature_groups * conv.batch_groups;
    for (int k = 0; k < spatial; ++k) {
      it.input[in[2 + k]] = is_point ? 1 : extent();
      ops::WindowDim dim{.size = between(1, 3), .stride = between(1, 3)};
      dim.low = between(-1, 3);
      dim.high = between(-1, 3);
      dim.base_dilation = chance(30) ? between(1, 3) : 1;
      dim.dilation = chance(30) ? between(1, 3) : 1;
      dim.reversed = chance(30);
      it.kernel[kernel[2 + k]] = dim.size;
      conv.window.push_back(dim);
    }
    return it;
  }

  int64_t between(int64_t low, int64_t high) { return low + static_cast<int64_t>(engine_() % (high - low + 1)); }
  bool chance(int percent) { return between(0, 99) < percent; }
  int64_t extent() { return extents_[between(0, static_cast<int64_t>(extents_.size()) - 1)]; }

  std::vector<int64_t> permutation(int count) {
    std::vector<int64_t> order = ops::iota_dims(count);
    for (int k = count - 1; k > 0; --k) std::swap(order[k], order[between(0, k)]);
    return order;
  }

 private:
  std::mt19937 engine_;
  std::vector<int64_t> extents_;
};

}  // namespace ingot
