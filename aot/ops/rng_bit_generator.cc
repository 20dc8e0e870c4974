// stablehlo.rng_bit_generator: random bits from a state, and the state after them. The bits are those that XLA gives.
//
//   state       ui64: the key, then a counter of 64 bits (THREE_FRY) or of 64 or 128 bits, low half first (PHILOX;
//               of a counter of 64 bits the high half is the key). DEFAULT is PHILOX.
//   PHILOX      Block k of four words is that of counter + k. 32-bit elements are the words in order; 64-bit elements
//               two words each, low word first.
//   THREE_FRY   64-bit element k has both words of counter + k, low word first. For 32-bit elements the first dimension
//               of even size, or else the first of the greatest, is halved (rounding up): the two words of
//               counter + k, k counting in the halved shape, are the elements 2 i and 2 i + 1 along it.
//   Narrower elements are the low bits of 32-bit ones. The counter moves on by the blocks or pairs that were made.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "aot/ops/support/counter_random.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::rng_bit_generator_op {
namespace {

bool is_threefry(const Attrs& attrs) { return attrs.string("rng_algorithm") == "THREE_FRY"; }
int bits_of(const TensorType& type) { return info(type.dtype).bits; }

// How THREE_FRY lays pairs of 32-bit words out.
struct Halved {
  int64_t dim = 0;  // of the result; a scalar counts as one element
  Shape shape;      // of either half

  explicit Halved(const Shape& result) : shape(result.empty() ? Shape{1} : result) {
    const auto even = std::ranges::find_if(shape, [](int64_t size) { return size % 2 == 0; });
    dim = (even != shape.end() ? even : std::ranges::max_element(shape)) - shape.begin();
    shape[dim] = (shape[dim] + 1) / 2;
  }
};

// How many counters a result takes.
int64_t counters(const Attrs& attrs, const TensorType& type) {
  if (!is_threefry(attrs)) return (type.elements() * (bits_of(type) > 32 ? 2 : 1) + 3) / 4;
  return bits_of(type) > 32 ? type.elements() : element_count(Halved(type.shape).shape);
}

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  const std::string& algorithm = args.attrs().string("rng_algorithm");
  if (algorithm != "DEFAULT" && algorithm != "THREE_FRY" && algorithm != "PHILOX") {
    args.fail("unknown algorithm " + algorithm + "; there are DEFAULT, THREE_FRY and PHILOX");
  }
  const TensorType& state = args.operands[0];
  const bool fits =
      state == TensorType{DType::kUI64, {2}} || (!is_threefry(args.attrs()) && state == TensorType{DType::kUI64, {3}});
  if (!fits) args.fail(fmt::format("the state of {} cannot be a {}", algorithm, to_string(state)));
  if (args.declared.size() != 2) args.fail("gives the state after and the bits: two results");
  const TensorType& bits = args.declared[1];
  if (is_bool(bits.dtype) || is_token(bits.dtype) || is_complex(bits.dtype))
    args.fail("cannot give a " + to_string(bits));
  return {state, bits};
}

// --- evaluate --------------------------------------------------------------------------------------------------------

std::array<uint32_t, 2> words_of(uint64_t x) { return {static_cast<uint32_t>(x), static_cast<uint32_t>(x >> 32)}; }

// The counter's low and high half; `by` counters on.
std::array<uint64_t, 2> advanced(const RefTensor& state, uint64_t by) {
  const auto low = static_cast<uint64_t>(state.i[1]),
             high = static_cast<uint64_t>(state.i.size() == 3 ? state.i[2] : state.i[0]);
  return {low + by, high + (low + by < low ? 1 : 0)};
}

// The words of counter number k.
std::array<uint32_t, 4> words_at(const Attrs& attrs, const RefTensor& state, int64_t k) {
  const auto [low, high] = advanced(state, static_cast<uint64_t>(k));
  const auto key = words_of(static_cast<uint64_t>(state.i[0])), l = words_of(low), h = words_of(high);
  if (!is_threefry(attrs)) return philox4x32<uint32_t>({l[0], l[1], h[0], h[1]}, key);
  const auto pair = threefry2x32<uint32_t>(l, key);
  return {pair[0], pair[1], 0, 0};
}

uint64_t element_bits(const Attrs& attrs, const RefTensor& state, const TensorType& type, Shape at, int64_t k) {
  const int words_per_counter = is_threefry(attrs) ? 2 : 4;
  if (bits_of(type) > 32) {
    const auto words = words_at(attrs, state, 2 * k / words_per_counter);
    const int64_t word = 2 * k % words_per_counter;
    return words[word] | static_cast<uint64_t>(words[word + 1]) << 32;
  }
  if (!is_threefry(attrs)) return words_at(attrs, state, k / 4)[k % 4];
  const Halved halved(type.shape);
  if (at.empty()) at = {0};
  const int64_t word = at[halved.dim] % 2;
  at[halved.dim] /= 2;
  return words_at(attrs, state, linear_index(at, row_major_strides(halved.shape)))[word];
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& state = args.inputs[0];
  RefTensor after = state, result(args.result_type(1));
  const auto [low, high] = advanced(state, static_cast<uint64_t>(counters(args.attrs(), result.type)));
  after.i[1] = static_cast<int64_t>(low);
  if (after.i.size() == 3) after.i[2] = static_cast<int64_t>(high);
  ops::for_each_index(result.type.shape, [&](const Shape& at, int64_t k) {
    const uint64_t bits = element_bits(args.attrs(), state, result.type, at, k);
    if (result.is_float()) {
      std::byte bytes[sizeof bits];
      std::memcpy(bytes, &bits, sizeof bits);
      result.f[k] = load_float(result.type.dtype, bytes);
    } else {
      result.i[k] = wrap_to(result.type.dtype, static_cast<int64_t>(bits));
    }
  });
  return {after, result};
}

// --- expand ----------------------------------------------------------------------------------------------------------

std::array<Term, 2> words_of(Term x) {
  return {converted(x, DType::kUI32), converted(shifted_right(x, 32), DType::kUI32)};
}

Term element(GraphBuilder& b, Value* vector, int64_t i) {
  return {b, ops::reshape(b, ops::slice(b, vector, {i}, {i + 1}, {1}), {})};
}

Term spread(Term scalar, int64_t count) {
  return {scalar.builder(), ops::broadcast_scalar(scalar.builder(), scalar, {count})};
}

struct Counter {
  Term low, high;
};
Counter advanced(const Counter& counter, Term by) {
  const Term low = counter.low + by;
  return {low, counter.high + converted(low < counter.low, DType::kUI64)};
}

// Flat tensors one after the other in a new dimension `dim` of `shape`.
Value* interleaved(GraphBuilder& b, std::span<const Term> words, Shape shape, int64_t dim) {
  shape.insert(shape.begin() + dim, 1);
  Values parts;
  for (const Term& word : words) parts.push_back(ops::reshape(b, word, shape));
  return ops::concatenate(b, parts, dim);
}

// The first of the elements, in the result's shape.
Value* shaped(GraphBuilder& b, Value* bits, const Shape& shape) {
  const int64_t count = element_count(shape);
  Value* flat = ops::reshape(b, bits, {bits->type.elements()});
  if (flat->type.elements() != count) flat = ops::slice(b, flat, {0}, {count}, {1});
  return ops::reshape(b, flat, shape);
}

Value* halves_joined(GraphBuilder& b, std::span<const Term> pair, const Shape& shape) {
  const Halved halved(shape);
  if (shape.empty()) return ops::reshape(b, pair[0], {});
  Shape rounded = shape;
  rounded[halved.dim] = 2 * halved.shape[halved.dim];
  Value* joined = ops::reshape(b, interleaved(b, pair, halved.shape, halved.dim + 1), rounded);
  return rounded == shape ? joined : ops::slice(b, joined, Shape(shape.size(), 0), shape, Shape(shape.size(), 1));
}

Term joined_words(Term low, Term high) {
  const Term wide = converted(high, DType::kUI64);
  return wide.binary(kShiftLeft, wide.like(32)).binary(kOr, converted(low, DType::kUI64));
}

// Unsigned bits as elements of another type, of which they have at least the width.
Value* as_elements(GraphBuilder& b, Value* bits, DType dtype) {
  if (!is_float(dtype)) return ops::convert(b, bits, dtype);
  if (info(dtype).bits == 16) bits = ops::convert(b, bits, DType::kUI16);
  return b.make(kBitcastConvert, {bits}, {}, {{dtype, bits->type.shape}});
}

Values expand(ExpandArgs& args) {
  GraphBuilder& b = args.b;
  Value* state = args.operand(0);
  const TensorType& type = args.op.result(1)->type;
  const bool is_wide = bits_of(type) > 32;
  const int64_t count = counters(args.attrs(), type);
  const Term key = element(b, state, 0);
  const Counter start{element(b, state, 1), state->type.elements() == 3 ? element(b, state, 2) : key};

  const Term index(b, ops::iota(b, {DType::kUI64, {count}}, 0));
  const Counter at = advanced({spread(start.low, count), spread(start.high, count)}, index);
  const auto low = words_of(at.low), key_words = words_of(key);
  const std::array<Term, 2> keys = {spread(key_words[0], count), spread(key_words[1], count)};
  Value* bits = nullptr;
  if (is_threefry(args.attrs())) {
    const auto pair = threefry2x32<Term>(low, keys);
    bits = is_wide ? shaped(b, joined_words(pair[0], pair[1]), type.shape) : halves_joined(b, pair, type.shape);
  } else {
    const auto high = words_of(at.high);
    const auto block = philox4x32<Term>({low[0], low[1], high[0], high[1]}, keys);
    const std::array<Term, 2> wide = {joined_words(block[0], block[1]), joined_words(block[2], block[3])};
    bits = shaped(b, is_wide ? interleaved(b, wide, {count}, 1) : interleaved(b, block, {count}, 1), type.shape);
  }

  const Counter after = advanced(start, start.low.like(static_cast<double>(count)));
  Values parts = {ops::reshape(b, key, {1}), ops::reshape(b, after.low, {1})};
  if (state->type.elements() == 3) parts.push_back(ops::reshape(b, after.high, {1}));
  return {ops::concatenate(b, parts, 0), as_elements(b, bits, type.dtype)};
}

std::vector<Sample> samples() {
  const auto sample = [](std::string_view algorithm, int words, const std::string& type) {
    const std::string state = fmt::format("tensor<{}xui64>", words);
    return Sample{.text = fmt::format("func.func @main(%s: {0}) -> ({0}, {1}) {{\n"
                                      "  %0:2 = stablehlo.rng_bit_generator %s, algorithm = {2} : ({0}) -> ({0}, {1})\n"
                                      "  return %0#0, %0#1 : {0}, {1}\n}}\n",
                                      state, type, algorithm),
                  .integer_low = -3,
                  .integer_high = 3};
  };
  return {
      sample("THREE_FRY", 2, "tensor<7xui32>"),    sample("THREE_FRY", 2, "tensor<3x4xui32>"),
      sample("THREE_FRY", 2, "tensor<3x5xui64>"),  sample("THREE_FRY", 2, "tensor<ui16>"),
      sample("THREE_FRY", 2, "tensor<5x3x7xui8>"), sample("THREE_FRY", 2, "tensor<0x3xui32>"),
      sample("THREE_FRY", 2, "tensor<6xi64>"),     sample("PHILOX", 2, "tensor<7xui32>"),
      sample("PHILOX", 3, "tensor<3x5xui64>"),     sample("PHILOX", 2, "tensor<2x2xi8>"),
      sample("PHILOX", 3, "tensor<ui16>"),         sample("PHILOX", 2, "tensor<0xui32>"),
      sample("DEFAULT", 2, "tensor<9xi32>"),       sample("DEFAULT", 2, "tensor<5xf32>"),
      sample("DEFAULT", 3, "tensor<5xbf16>"),      sample("DEFAULT", 2, "tensor<5xui4>"),
  };
}

}  // namespace

extern const OpDef kRngBitGenerator = {
    .name = "stablehlo.rng_bit_generator",
    .doc = "Random bits from a state, and the state after them; the same bits as XLA's.",
    .assembly = "operands `,` `algorithm` `=` enum(rng_algorithm, rng_algorithm) attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .zero_gradient = true,
    .expand = expand,
    .samples = samples,
    .root = KernelRoot::kNone,
};

}  // namespace ingot::rng_bit_generator_op
