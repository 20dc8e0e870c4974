// GridSample, AffineGrid, RoiAlign and DeformConv: images read where other tensors say.
#include "aot/frontend/onnx/sampling.h"

#include <fmt/format.h>

#include <cmath>

#include "aot/frontend/onnx/windows.h"
#include "aot/ops/support/index.h"

namespace ingot::onnx {
namespace {

// --- GridSample ------------------------------------------------------------------------------------------------------

// Keys, Cubic Convolution Interpolation, 1981, with a = -0.75.
Term cubic_weight(Term fraction, int k) {
  const double a = -0.75;
  const Term x = k == 0 ? fraction + 1 : k == 1 ? fraction : k == 2 ? 1 - fraction : 2 - fraction;
  if (k == 1 || k == 2) return (x * (a + 2) - (a + 3)) * x * x + 1;
  return ((x * a - 5 * a) * x + 8 * a) * x - 4 * a;
}

struct Border {
  std::string padding;
  bool aligns;

  double low() const { return aligns ? 0 : -0.5; }
  double high(int64_t size) const { return static_cast<double>(size) - (aligns ? 1 : 0.5); }

  // Mirrored at the borders, as often as it takes.
  Term reflected(Term at, int64_t size) const {
    const double range = high(size) - low();
    if (range <= 0) return at.like(0);
    const Term distance = abs(at - low()), times = floor(distance / range), rest = distance - times * range;
    const Term is_even = equal(times - floor(times / 2) * 2, times.like(0));
    return where(is_even, rest + low(), high(size) - rest);
  }
  Term moved_inside(Term at, int64_t size) const {
    const Term outside = either(at<at.like(low()), at> at.like(high(size)));
    if (padding == "border") return where(outside, max(min(at, static_cast<double>(size - 1)), 0), at);
    return padding == "reflection" ? where(outside, reflected(at, size), at) : at;
  }
};

Term pixel_in(Term x, const Border& border, const std::vector<Term>& places) {
  if (border.padding == "zeros") return pixels_or_zero(x, places);
  std::vector<Term> whole;
  for (size_t d = 0; d < places.size(); ++d) {
    const Term at = border.padding == "reflection" ? border.reflected(places[d], x.shape()[d + 2]) : places[d];
    whole.push_back(converted(at, DType::kI32));
  }
  return pixels_at(x, whole);
}

}  // namespace

// x [n, c, space...] at the places of the grid [n, out..., dimensions]: between -1 and 1, the last dimension first.
Items lower_grid_sample(NodeArgs& n) {
  const Term x = n.in(0), grid = n.in(1);
  const int space = rank_of(x) - 2;
  if (space < 1 || rank_of(grid) != rank_of(x) || grid.shape().back() != space || grid.shape()[0] != x.shape()[0]) {
    n.fail("its grid must be [batch, out..., dimensions]");
  }
  const Border border{n.text("padding_mode", "zeros"), n.flag("align_corners")};
  if (border.padding != "zeros" && border.padding != "border" && border.padding != "reflection")
    n.fail(fmt::format("padding_mode = '{}'", border.padding));
  std::string mode = n.text("mode", n.opset < 20 ? "bilinear" : "linear");
  if (mode.starts_with("bi")) mode = mode.substr(2);
  if (mode != "nearest" && mode != "linear" && mode != "cubic") n.fail(fmt::format("mode = '{}'", mode));
  Shape out{x.shape()[0], x.shape()[1]};
  out.insert(out.end(), grid.shape().begin() + 1, grid.shape().end() - 1);
  const int64_t points = x.shape()[0] ? element_count(grid.shape()) / (space * x.shape()[0]) : 0;
  const Term wide = converted(grid, dtype_of(grid) == DType::kF64 ? DType::kF64 : DType::kF32);
  std::vector<Term> places;
  for (int d = 0; d < space; ++d) {
    const Term at = reshape(at_index(wide, rank_of(grid) - 1, space - 1 - d), {x.shape()[0], points});
    const auto size = static_cast<double>(x.shape()[d + 2]);
    Term place = border.aligns ? (at + 1) * ((size - 1) / 2) : ((at + 1) * size - 1) / 2;
    if (mode == "nearest") place = place.unary(kRoundNearestEven);
    places.push_back(border.moved_inside(place, x.shape()[d + 2]));
  }
  const auto pixel = [&](const std::vector<Term>& whole) { return pixel_in(x, border, whole); };
  if (mode == "nearest") return reshape(pixel(places), out);
  return reshape(interpolated(places, mode == "linear" ? linear_kernel() : Kernel{-1, 4, cubic_weight}, pixel), out);
}

// A grid for GridSample: [n, out..., dimensions], of the size [n, c, out...], moved by theta [n, dimensions,
// dimensions + 1].
Items lower_affine_grid(NodeArgs& n) {
  const Term theta = n.in(0);
  const Shape size = n.known_integers(1);
  const int space = static_cast<int>(size.size()) - 2;
  if (space < 2 || space > 3 || rank_of(theta) != 3 || theta.shape() != Shape{size[0], space, space + 1})
    n.fail("theta does not fit the size");
  const Shape out(size.begin() + 2, size.end());
  for (const int64_t extent : out) {
    if (extent < 1 || extent > (1 << 24)) n.fail(fmt::format("a dimension of {}", extent));
  }
  Shape one = out;
  one.push_back(1);
  std::vector<Term> columns;
  for (int d = space; d-- > 0;) {
    const auto extent = static_cast<double>(out[d]);
    const Term k = counted(theta, {DType::kF32, one}, d);
    columns.push_back(n.flag("align_corners") ? k * (extent > 1 ? 2 / (extent - 1) : 0) - 1 : (k * 2 + 1) / extent - 1);
  }
  columns.push_back(constant(n.b, {DType::kF32, one}, 1));
  const Term flat = reshape(concat(columns, space), {element_count(out), space + 1});
  const Term moved = matmul(flat, swap_axes(converted(theta, DType::kF32), 1, 2));
  Shape result{size[0]};
  result.insert(result.end(), out.begin(), out.end());
  result.push_back(space);
  return converted(reshape(moved, result), dtype_of(theta));
}

namespace {

// --- RoiAlign --------------------------------------------------------------------------------------------------------

// Sample number s of `count` in each of `bins` along one side of the regions: [regions, bins count].
Term sample_places(Term start, Term length, int64_t bins, int64_t count) {
  const int64_t regions = start.shape()[0];
  const Shape shape{regions, bins * count};
  const Term k = counted(start, {dtype_of(start), shape}, 1);
  const Term bin = broadcast(unsqueeze(length / static_cast<double>(bins * count), 1), shape);
  return broadcast(unsqueeze(start, 1), shape) + (k + 0.5) * bin;
}

struct Taps {
  Term values[4], weights[4];  // of the four pixels around: [regions, c, points], [regions, points]
};

// Both places [regions, points]; outside by more than a pixel the weights are 0.
Taps taps_at(Term x, Term y_place, Term x_place) {
  const Term places[] = {y_place, x_place};
  std::vector<Term> low, high, fraction;
  std::optional<Term> inside;
  for (int d = 0; d < 2; ++d) {
    const auto size = static_cast<double>(x.shape()[d + 2]);
    const Term in = both(places[d] >= places[d].like(-1), places[d] <= places[d].like(size));
    inside = inside ? both(*inside, in) : in;
    const Term at = min(max(places[d], 0), size - 1);
    low.push_back(floor(at));
    high.push_back(min(low.back() + 1, size - 1));
    fraction.push_back(at - low.back());
  }
  const auto whole = [](Term t) { return converted(t, DType::kI32); };
  const auto tap = [&](bool lower, bool righter) {
    return pixels_at(x, {whole(lower ? high[0] : low[0]), whole(righter ? high[1] : low[1])});
  };
  const auto weight = [&](bool lower, bool righter) {
    const Term w = (lower ? fraction[0] : 1 - fraction[0]) * (righter ? fraction[1] : 1 - fraction[1]);
    return where(*inside, w, 0);
  };
  return {{tap(false, false), tap(false, true), tap(true, false), tap(true, true)},
          {weight(false, false), weight(false, true), weight(true, false), weight(true, true)}};
}

}  // namespace

// The mean, or greatest, of samples in each bin of each region: [regions, c, bins of height, bins of width].
Items lower_roi_align(NodeArgs& n) {
  const Term x = n.in(0), rois = n.in(1);
  if (rank_of(x) != 4 || rank_of(rois) != 2 || rois.shape()[1] != 4)
    n.fail("its regions must be [regions, 4], of images");
  const int64_t height = n.integer("output_height", 1), width = n.integer("output_width", 1),
                count = n.integer("sampling_ratio", 0);
  if (count < 1) n.limit("sampling_ratio = 0: how many samples a bin has follows from the regions; set sampling_ratio");
  if (height < 1 || width < 1 || height > (1 << 16) || width > (1 << 16) || count > (1 << 10))
    n.fail("its sizes are out of range");
  const std::string coordinates =
      n.text("coordinate_transformation_mode", n.opset < 16 ? "output_half_pixel" : "half_pixel");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    n.fail(fmt::format("coordinate_transformation_mode = '{}': half_pixel or output_half_pixel", coordinates));
  const bool half_pixel = coordinates == "half_pixel";
  const double scale = n.number("spatial_scale", 1), offset = half_pixel ? 0.5 : 0;
  const auto edge = [&](int64_t k) { return at_index(rois, 1, k) * scale - offset; };
  const auto length = [&](Term from, Term to) { return half_pixel ? to - from : max(to - from, 1); };
  const Term left = edge(0), top = edge(1);
  const Term ys = sample_places(top, length(top, edge(3)), height, count),
             xs = sample_places(left, length(left, edge(2)), width, count);
  const int64_t regions = rois.shape()[0], rows = height * count, columns = width * count;
  const Shape grid{regions, rows, columns};
  n.check_indices(2, {x.shape()[0]}, false);
  const Term images = take(x, n.in(2), 0);
  const Taps taps = taps_at(images, reshape(broadcast(unsqueeze(ys, 2), grid), {regions, rows * columns}),
                            reshape(broadcast(unsqueeze(xs, 1), grid), {regions, rows * columns}));
  const std::string mode = n.text("mode", "avg");
  if (mode != "avg" && mode != "max") n.fail(fmt::format("mode = '{}': avg or max", mode));
  const bool greatest = mode == "max";
  std::optional<Term> sample;
  for (int k = 0; k < 4; ++k) {
    const Term part = taps.values[k] * broadcast(unsqueeze(taps.weights[k], 1), taps.values[k].shape());
    sample = !sample ? part : greatest ? max(*sample, part) : *sample + part;
  }
  const Term bins = reshape(*sample, {regions, x.shape()[1], height, count, width, count});
  const Term pooled = greatest ? reduce(kMaximum, bins, {3, 5}) : mean(bins, {3, 5});
  return reshape(pooled, {regions, x.shape()[1], height, width});
}

namespace {

// --- DeformConv ------------------------------------------------------------------------------------------------------

struct Deformed {
  Term x, offsets;  // [n, c, h, w], [n, groups, window, 2, points]
  std::optional<Term> mask;
  ops::Window window;
  Shape positions;
};

// Where window element k reads along dimension d, before offsets: [points].
Term regular_place(const Deformed& c, const Shape& offset, int d) {
  const ops::WindowDim& w = c.window[d];
  const Term at = counted(c.x, {DType::kF32, c.positions}, d) * static_cast<double>(w.stride);
  return reshape(at + static_cast<double>(offset[d] * w.dilation - w.low), {element_count(c.positions)});
}

// The elements that window element k reads: [n, c, points].
Term deformed_element(const Deformed& c, const Shape& offset, int64_t k) {
  const int64_t batch = c.x.shape()[0], groups = c.offsets.shape()[1], points = element_count(c.positions);
  const int64_t channels = c.x.shape()[1] / groups;
  std::vector<Term> parts;
  for (int64_t g = 0; g < groups; ++g) {
    const Term moves = at_index(at_index(c.offsets, 1, g), 1, k);
    std::vector<Term> places;
    for (int d = 0; d < std::ssize(c.window); ++d) {
      places.push_back(at_index(moves, 1, d) + broadcast(regular_place(c, offset, d), {batch, points}));
    }
    const Term x = slice(c.x, 1, g * channels, (g + 1) * channels);
    Term part =
        interpolated(places, linear_kernel(), [&](const std::vector<Term>& whole) { return pixels_or_zero(x, whole); });
    if (c.mask) part = part * broadcast(unsqueeze(at_index(at_index(*c.mask, 1, g), 1, k), 1), part.shape());
    parts.push_back(part);
  }
  return concat(parts, 1);
}

}  // namespace

// A convolution whose windows reach where the offsets say: what they read becomes columns, then a product.
Items lower_deform_conv(NodeArgs& n) {
  const Term x = n.in(0), w = n.in(1);
  const Shape kernel = weight_kernel_shape(n, x, w);
  const int64_t cells = element_count(kernel), groups = n.integer("offset_group", 1), space = std::ssize(kernel);
  Deformed c{x, x, std::nullopt, spatial_window(n, x.shape(), kernel), {}};
  for (int64_t d = 0; d < space; ++d) c.positions.push_back(c.window[d].positions(x.shape()[d + 2]));
  const int64_t points = element_count(c.positions), batch = x.shape()[0];
  if (cells > 1024 || groups > 1024) n.limit("its windows have more than 1024 elements");
  if (groups < 1 || x.shape()[1] % groups) n.fail(fmt::format("offset_group = {}", groups));
  c.offsets = reshape(converted(n.in(2), DType::kF32), {batch, groups, cells, space, points});
  if (n.has(4)) c.mask = reshape(n.in(4), {batch, groups, cells, points});
  std::vector<Term> columns;
  ops::for_each_index(
      kernel, [&](const Shape& offset, int64_t k) { columns.push_back(unsqueeze(deformed_element(c, offset, k), 2)); });
  const Term all = reshape(concat(columns, 2), {batch, x.shape()[1] * cells, points});
  const Term weights = reshape(w, {w.shape()[0], w.shape()[1] * cells, 1});
  const Term product = convolve(all, weights, {{.size = 1}}, n.integer("group", 1));
  Shape result{batch, w.shape()[0]};
  result.insert(result.end(), c.positions.begin(), c.positions.end());
  const Term y = reshape(product, result);
  return n.has(3) ? add_bias(y, n.in(3)) : y;
}

}  // namespace ingot::onnx
