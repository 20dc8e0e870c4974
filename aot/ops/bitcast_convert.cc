#include <fmt/format.h>

#include <cstring>

#include "aot/graph/quantization.h"
#include "aot/graph/result_types.h"
#include "aot/loops/float_bits.h"
#include "aot/ops/support/elementwise.h"
#include "aot/ops/support/infer.h"

namespace ingot::bitcast_convert_op {
namespace {

int bits(DType dtype) { return info(dtype).bits; }

DType stored_dtype(const TensorType& type) { return type.quantization ? type.quantization->storage : type.dtype; }

// The shape of `from` in another width: the narrower side has one more, last dimension.
std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  const TensorType& from = args.operands[0];
  const TensorType& to = args.declared_result();
  if (is_complex(from.dtype) != is_complex(to.dtype)) {
    args.fail(fmt::format("cannot give {} from {}: both must be complex, or none", to_string(to), to_string(from)));
  }
  const int from_bits = bits(stored_dtype(from)), to_bits = bits(stored_dtype(to));
  const int64_t ratio = std::max(from_bits, to_bits) / std::min(from_bits, to_bits);
  TensorType expected{to.dtype, from.shape, {}, to.quantization};
  bool fits = std::max(from_bits, to_bits) % std::min(from_bits, to_bits) == 0;
  if (from_bits > to_bits) {
    expected.shape.push_back(ratio);
  } else if (fits && ratio > 1) {
    fits = !from.shape.empty() && (from.shape.back() == ratio || from.shape.back() == kUnknownDim);
    if (fits) expected.shape.pop_back();
  }
  if (!fits || !may_agree(expected, to)) {
    args.fail(
        fmt::format("cannot give {} from {}: shapes must agree, with one more, last dimension of {} on the side of the "
                    "narrower type",
                    to_string(to), to_string(from), ratio));
  }
  return {from.is_static() ? expected : to};
}

uint64_t load_bits(const RefTensor& tensor, int64_t k) {
  std::byte bytes[8] = {};
  const DType dtype = tensor.type.dtype;
  if (tensor.is_float()) {
    store_float(dtype, tensor.f[k], bytes);
  } else {
    store_int(dtype, tensor.i[k], bytes);
  }
  uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value & (~uint64_t{0} >> (64 - bits(dtype)));
}

void store_bits(RefTensor& tensor, int64_t k, uint64_t value) {
  if (tensor.is_float()) {
    tensor.f[k] = load_float(tensor.type.dtype, reinterpret_cast<const std::byte*>(&value));
  } else {
    tensor.i[k] = wrap_to(tensor.type.dtype, static_cast<int64_t>(value));
  }
}

// In memory, complex<f64> is two complex<f32>: the bits of its real part, then those of its imaginary one.
RefTensor evaluate_complex(const RefTensor& x, const TensorType& to) {
  return from_literal(*dense(to, to_literal(x)->dense_bytes()));
}

// Little endian: the lowest bits of a wide element are the first of its narrow ones.
std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  if (args.inputs[0].is_complex()) return {evaluate_complex(args.inputs[0], args.result_type())};
  const RefTensor x = args.inputs[0].type.quantization ? to_storage(args.inputs[0]) : args.inputs[0];
  const TensorType& type = args.result_type();
  RefTensor y(type.quantization ? storage_type(type) : type);
  const int x_bits = bits(x.type.dtype), y_bits = bits(y.type.dtype);
  for (int64_t k = 0; k < y.elements(); ++k) {
    uint64_t value = 0;
    if (y_bits >= x_bits) {
      for (int j = 0; j < y_bits / x_bits; ++j) value |= load_bits(x, k * (y_bits / x_bits) + j) << (j * x_bits);
    } else {
      value = load_bits(x, k / (x_bits / y_bits)) >> (k % (x_bits / y_bits) * y_bits);
      value &= ~uint64_t{0} >> (64 - y_bits);
    }
    store_bits(y, k, value);
  }
  return {type.quantization ? from_storage(type, y) : std::move(y)};
}

loops::Expr element(loops::ElementArgs& args) {
  loops::KernelBuilder& b = args.b;
  const DType from = args.op.operand(0)->type.dtype, to = args.dtype();
  const DType to_bits = loops::unsigned_of(to);
  const auto operand_bits = [&](const std::vector<loops::Index>& at) {
    return loops::bits_of(Scalar(b, args.operand_at(0, at)), from);
  };
  std::vector<loops::Index> at = args.index;
  if (bits(from) == bits(to)) return loops::value_of_bits(operand_bits(at), to);
  if (bits(from) > bits(to)) {
    const loops::Index part = at.back();
    at.pop_back();
    const Scalar wide = operand_bits(at);
    const Scalar amount(b, b.index_value(part * bits(to), wide.dtype()));
    const Scalar narrow = to == DType::kI1 ? (wide >> amount) & 1 : wide >> amount;
    return loops::value_of_bits(narrow.convert(to_bits), to);
  }
  at.push_back(0);
  Scalar wide = operand_bits(at).convert(to_bits);
  for (int j = 1; j < bits(to) / bits(from); ++j) {
    at.back() = j;
    wide = wide | (operand_bits(at).convert(to_bits) << (j * bits(from)));
  }
  return loops::value_of_bits(wide, to);
}

// A part of complex<f64> becomes a pair of f32, the parts of one complex<f32>; and back.
std::vector<Parts> split(SplitArgs& args) {
  GraphBuilder& b = args.b;
  const TensorType& from = args.op.operand(0)->type;
  const TensorType& to = args.op.result()->type;
  if (from.dtype == to.dtype) return {args.operands.begin(), args.operands.end()};
  Shape pairs = from.dtype == DType::kC64 ? from.shape : to.shape;  // of complex<f32>
  const int64_t last = static_cast<int64_t>(pairs.size()) - 1;
  const auto bitcast = [&](Value* value, DType dtype, const Shape& shape) {
    return b.make(kBitcastConvert, {value}, {}, {{dtype, shape}});
  };
  const auto element = [&](Value* value, int64_t k) {
    Shape start(pairs.size(), 0), limit = pairs;
    start[last] = k;
    limit[last] = k + 1;
    return ops::slice(b, value, start, limit, Shape(pairs.size(), 1));
  };
  if (from.dtype == DType::kC128) {
    Value* re = bitcast(args.re(0), DType::kF32, pairs);
    Value* im = bitcast(args.im(0), DType::kF32, pairs);
    Value* low = ops::concatenate(b, {element(re, 0), element(im, 0)}, last);
    return {{low, ops::concatenate(b, {element(re, 1), element(im, 1)}, last)}};
  }
  const auto wide = [&](int64_t k) {
    Value* low = element(args.re(0), k);
    return bitcast(ops::concatenate(b, {low, element(args.im(0), k)}, last), DType::kF64, to.shape);
  };
  Value* re = wide(0);
  return {{re, wide(1)}};
}

std::vector<Sample> samples() {
  const std::pair<TensorType, TensorType> kTypes[] = {
      {{DType::kF32, {37}}, {DType::kI32, {37}}},
      {{DType::kUI32, {37}}, {DType::kF32, {37}}},
      {{DType::kF64, {5}}, {DType::kUI64, {5}}},
      {{DType::kF16, {37}}, {DType::kI16, {37}}},
      {{DType::kI16, {37}}, {DType::kF16, {37}}},
      {{DType::kBF16, {9}}, {DType::kUI16, {9}}},
      {{DType::kUI16, {9}}, {DType::kBF16, {9}}},
      {{DType::kI32, {3, 5}}, {DType::kI8, {3, 5, 4}}},
      {{DType::kUI8, {3, 5, 4}}, {DType::kUI32, {3, 5}}},
      {{DType::kF64, {7}}, {DType::kUI32, {7, 2}}},
      {{DType::kUI32, {7, 2}}, {DType::kF64, {7}}},
      {{DType::kF32, {7}}, {DType::kBF16, {7, 2}}},
      {{DType::kI8, {9}}, {DType::kUI4, {9, 2}}},
      {{DType::kI4, {9, 2}}, {DType::kI8, {9}}},
      {{DType::kI64, {}}, {DType::kI1, {64}}},
      {{DType::kC64, {5}}, {DType::kC64, {5}}},
      {{DType::kC128, {5}}, {DType::kC64, {5, 2}}},
      {{DType::kC64, {3, 2}}, {DType::kC128, {3}}},
      {{DType::kI1, {64}}, {DType::kF64, {}}},
  };
  std::vector<Sample> samples;
  for (const auto& [x, y] : kTypes) {
    samples.push_back(
        {.text =
             sample_text({x}, y, fmt::format("stablehlo.bitcast_convert %a0 : ({}) -> {}", to_string(x), to_string(y))),
         .specials = is_float(x.dtype)});
  }
  return samples;
}

}  // namespace

extern const OpDef kBitcastConvert = {
    .name = "stablehlo.bitcast_convert",
    .doc =
        "The bits of x as another type. Between types of different width the narrower side has one more, last "
        "dimension.",
    .assembly = "operands attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .zero_gradient = true,
    .split = split,
    .samples = samples,
    .element = element,
    .infers_dynamic_shapes = true,
    .keeps_bits = true,
    .infer_sees_quantized = true,
};

}  // namespace ingot::bitcast_convert_op
