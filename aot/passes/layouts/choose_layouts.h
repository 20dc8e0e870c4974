// Chooses the order of every tensor around a block's convolutions: as written, or as channels last asks.
#pragma once

#include <optional>
#include <unordered_map>

#include "aot/passes/layouts/axes.h"
#include "aot/passes/layouts/convolution_layout.h"

namespace ingot::layouts {

// An op through which orders pass, and the order of its axes that was chosen.
struct Passing {
  Axes axes;
  Order order;
};

struct Choice {
  std::unordered_map<const Op*, Passing> passing;  // those with an alternative to what is written
  struct Convolution {
    ConvolutionLayout layout;
    std::array<Order, kConvolutionTensors> orders;  // chosen
  };
  std::unordered_map<const Op*, Convolution> convolutions;
};

Choice choose_layouts(const Block& block, const loops::Target& target);

}  // namespace ingot::layouts
