// stablehlo.rng: random numbers without a state, between a and b (UNIFORM) or of mean a and standard deviation b
// (NORMAL). The specification leaves open which; here they are these, the same in every run. Programs that want others
// in every run carry a state, with rng_bit_generator.
//
//   bits      Philox4x32-10 with the key (number of draws that follow in the function, 0) and the counter (k, 0, 0, 0):
//             element k has the first two words. Draws are counted from the end, so that expanding one leaves the
//             numbers of the others alone.
//   UNIFORM   floats: a + (b - a) u, with u of 24 bits (53 for f64). Integers: a + word modulo (b - a); 64-bit ones
//             take both words.
//   NORMAL    a + b sqrt(-2 ln(1 - u)) cos(2 pi v), with u and v from one word each (Box & Muller 1958).
#include <fmt/format.h>

#include <numbers>

#include "aot/ops/support/counter_random.h"
#include "aot/ops/support/dynamic.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"

namespace ingot::rng_op {
namespace {

enum Operand { kA, kB, kShape, kOperands };

bool is_normal(const Attrs& attrs) { return attrs.string("rng_distribution") == "NORMAL"; }

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, kOperands);
  ops::check_scalar(args, "a", args.operands[kA]);
  ops::check_scalar(args, "b", args.operands[kB]);
  ops::check_same_dtype(args, args.operands[kA], args.operands[kB]);
  const TensorType& result = ops::declared_like(args, args.operands[kA]);
  ops::check_int_list(args, kShape, "the shape", result.rank());
  const std::string& distribution = args.attrs().string("rng_distribution");
  if (distribution != "UNIFORM" && distribution != "NORMAL") {
    args.fail("unknown distribution " + distribution + "; there are UNIFORM and NORMAL");
  }
  if (is_bool(result.dtype) || is_complex(result.dtype) || (is_normal(args.attrs()) && !is_float(result.dtype))) {
    args.fail(fmt::format("there is no {} distribution of {}", distribution, to_string(result)));
  }
  return {result};
}

// Counts the draws after `op` in what is left of a block and of those around it.
int64_t draws_in(const Block& block) {
  int64_t count = 0;
  for (const auto& op : block.ops) {
    count += op->is(kRng);
    for (const auto& region : op->regions) count += draws_in(*region);
  }
  return count;
}

int64_t draws_after(const Op& op) {
  int64_t count = 0;
  for (const Op* at = &op; at; at = at->block->parent_op) {
    if (at->is(kWhile)) {
      throw_limit(op.location,
                  "stablehlo.rng: in a loop it would give the same numbers each time; carry a state, with "
                  "rng_bit_generator");
    }
    const Block& block = *at->block;
    for (auto next = std::next(at->self); next != block.ops.end(); ++next) {
      count += (*next)->is(kRng);
      for (const auto& region : (*next)->regions) count += draws_in(*region);
    }
  }
  return count;
}

// --- evaluate --------------------------------------------------------------------------------------------------------

double draw_float(const Attrs& attrs, DType dtype, const std::array<uint32_t, 4>& words, double a, double b) {
  const uint64_t both = words[0] | static_cast<uint64_t>(words[1]) << 32;
  if (!is_normal(attrs)) {
    const double u = dtype == DType::kF64 ? std::ldexp(static_cast<double>(both >> 11), -53)
                                          : std::ldexp(static_cast<double>(words[0] >> 8), -24);
    return a + (b - a) * u;
  }
  const double u = std::ldexp(static_cast<double>(words[0] >> 8), -24);
  const double v = std::ldexp(static_cast<double>(words[1] >> 8), -24);
  return a + b * (std::sqrt(-2 * std::log1p(-u)) * std::cos(2 * std::numbers::pi * v));
}

int64_t draw_integer(DType dtype, const std::array<uint32_t, 4>& words, int64_t a, int64_t b) {
  const uint64_t both = words[0] | static_cast<uint64_t>(words[1]) << 32;
  const uint64_t mask = ~uint64_t{0} >> (64 - std::max(info(dtype).bits, 32));
  const uint64_t range = (static_cast<uint64_t>(b) - static_cast<uint64_t>(a)) & mask;
  return range == 0 ? a : static_cast<int64_t>(static_cast<uint64_t>(a) + (both & mask) % range);
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& a = args.inputs[kA];
  const RefTensor& b = args.inputs[kB];
  const auto key = static_cast<uint32_t>(draws_after(args.op));
  RefTensor result(args.result_type());
  const DType dtype = result.type.dtype;
  for (int64_t k = 0; k < result.elements(); ++k) {
    const auto words = philox4x32<uint32_t>({static_cast<uint32_t>(k), 0, 0, 0}, {key, 0});
    if (result.is_float()) {
      result.f[k] = draw_float(args.attrs(), dtype, words, a.f[0], b.f[0]);
    } else {
      result.i[k] = draw_integer(dtype, words, a.i[0], b.i[0]);
    }
  }
  return {result};
}

// --- expand ----------------------------------------------------------------------------------------------------------

// word / 2^32, of 24 bits.
Term unit(Term word, DType dtype) { return converted(shifted_right(word, 8), dtype) * 0x1p-24; }

Term both_words(const std::array<Term, 4>& words) {
  const Term high = converted(words[1], DType::kUI64);
  return high.binary(kShiftLeft, high.like(32)).binary(kOr, converted(words[0], DType::kUI64));
}

Values expand(ExpandArgs& args) {
  GraphBuilder& b = args.b;
  const DType dtype = args.op.result()->type.dtype;
  const Shape shape = ops::known_operands(args).result_shape(kShape);
  const int64_t count = element_count(shape);
  const auto word = [&](int64_t value) { return Term(b, ops::constant(b, splat_int({DType::kUI32, {count}}, value))); };
  const auto words = philox4x32<Term>({Term(b, ops::iota(b, {DType::kUI32, {count}}, 0)), word(0), word(0), word(0)},
                                      {word(draws_after(args.op)), word(0)});
  const auto scalar = [&](Operand i, DType as) {
    return Term(b, ops::broadcast_scalar(b, ops::convert(b, args.operand(i), as), {count}));
  };
  Term result = words[0];
  if (!is_float(dtype)) {
    const DType wide = info(dtype).bits > 32 ? DType::kUI64 : DType::kUI32;
    const Term low = scalar(kA, wide), range = scalar(kB, wide) - low;
    const Term bits = wide == DType::kUI64 ? both_words(words) : words[0];
    const Term offset =
        where(equal(range, range.like(0)), 0, bits.binary(kRemainder, where(equal(range, range.like(0)), 1, range)));
    result = low + offset;
  } else {
    const DType wide = dtype == DType::kF64 ? DType::kF64 : DType::kF32;
    const Term x = scalar(kA, wide), y = scalar(kB, wide);
    if (is_normal(args.attrs())) {
      const Term radius = (-2.0 * (-unit(words[0], wide)).unary(kLogPlusOne)).unary(kSqrt);
      result = x + y * (radius * cos(unit(words[1], wide) * (2 * std::numbers::pi)));
    } else if (wide == DType::kF64) {
      result = x + (y - x) * (converted(shifted_right(both_words(words), 11), wide) * 0x1p-53);
    } else {
      result = x + (y - x) * unit(words[0], wide);
    }
  }
  return {ops::reshape(b, converted(result, dtype), shape)};
}

std::vector<Sample> samples() {
  const auto sample = [](std::string_view distribution, const std::string& dtype, int64_t low, int64_t high) {
    Sample sample = ops::dynamic_sample(
        fmt::format("%a: tensor<{0}>, %b: tensor<{0}>", dtype),
        fmt::format(
            "  %s = stablehlo.constant dense<[3, 7]> : tensor<2xi64>\n"
            "  %r = stablehlo.rng %a, %b, %s, distribution = {1} : (tensor<{0}>, tensor<{0}>, tensor<2xi64>) -> "
            "tensor<3x7x{0}>",
            dtype, distribution),
        "tensor<3x7x" + dtype + ">");
    sample.integer_low = low;
    sample.integer_high = high;
    return sample;
  };
  return {sample("UNIFORM", "f32", 0, 1),      sample("UNIFORM", "f64", 0, 1),  sample("UNIFORM", "bf16", 0, 1),
          sample("NORMAL", "f32", 0, 1),       sample("NORMAL", "f64", 0, 1),   sample("NORMAL", "f16", 0, 1),
          sample("UNIFORM", "i32", -100, 100), sample("UNIFORM", "i64", -9, 9), sample("UNIFORM", "ui8", 0, 200),
          sample("UNIFORM", "i32", 5, 5)};
}

}  // namespace

extern const OpDef kRng = {
    .name = "stablehlo.rng",
    .doc =
        "Random numbers of a distribution; which they are follows from where the op stands, and is the same in every "
        "run.",
    .assembly = "operands `,` `distribution` `=` enum(rng_distribution, rng_distribution) attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .zero_gradient = true,
    .expand = expand,
    .samples = samples,
    .root = KernelRoot::kNone,
    .ulp = {.f32 = 8, .f64 = 8, .half = 1},
    .infers_dynamic_shapes = true,
};

}  // namespace ingot::rng_op
