#include "aot/frontend/onnx/sampling.h"

#include <cmath>

#include "aot/ops/support/index.h"

namespace ingot::onnx {

Term pixels_at(Term x, const std::vector<Term>& places) {
  const Shape& s = x.shape();
  Term flat = places[0].like(0);
  for (size_t d = 0; d < places.size(); ++d) {
    const auto size = static_cast<double>(s[d + 2]);
    flat = flat * size + min(max(places[d], 0), size - 1);
  }
  int64_t pixels = 1;
  for (size_t d = 2; d < s.size(); ++d) pixels *= s[d];
  ops::IndexedDims dims;
  dims.operand_batch = dims.indices_batch = {0};
  dims.window_dims = {1};
  dims.dropped_dims = dims.index_map = {2};
  dims.index_vector_dim = 2;
  GraphBuilder& b = x.builder();
  return {b, ops::gather(b, reshape(x, {s[0], s[1], pixels}), unsqueeze(flat, 2), dims, {1, s[1], 1})};
}

Kernel linear_kernel() {
  return {0, 2, [](Term fraction, int k) { return k == 0 ? 1 - fraction : fraction; }};
}

Term interpolated(const std::vector<Term>& places, const Kernel& kernel,
                  const std::function<Term(const std::vector<Term>&)>& pixel) {
  std::vector<Term> lows, fractions;
  for (const Term& place : places) {
    lows.push_back(floor(place));
    fractions.push_back(place - lows.back());
  }
  std::optional<Term> sum;
  ops::for_each_index(Shape(places.size(), kernel.count), [&](const Shape& at, int64_t) {
    std::vector<Term> whole;
    Term weight = places[0].like(1);
    for (size_t d = 0; d < places.size(); ++d) {
      whole.push_back(lows[d] + static_cast<double>(kernel.first + at[d]));
      weight = weight * kernel.weight(fractions[d], static_cast<int>(at[d]));
    }
    const Term values = pixel(whole);
    const Term part = values * broadcast(unsqueeze(converted(weight, dtype_of(values)), 1), values.shape());
    sum = sum ? *sum + part : part;
  });
  return *sum;
}

Term pixels_or_zero(Term x, const std::vector<Term>& places) {
  std::vector<Term> whole;
  std::optional<Term> inside;
  for (size_t d = 0; d < places.size(); ++d) {
    const Term in =
        both(places[d] >= places[d].like(0), places[d] <= places[d].like(static_cast<double>(x.shape()[d + 2] - 1)));
    inside = inside ? both(*inside, in) : in;
    whole.push_back(converted(places[d], DType::kI32));
  }
  const Term values = pixels_at(x, whole);
  return where(broadcast(unsqueeze(*inside, 1), values.shape()), values, 0);
}

}  // namespace ingot::onnx
