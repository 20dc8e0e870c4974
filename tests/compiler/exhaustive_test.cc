// Elementwise ops of one operand of at most 16 bits, and of two of at most 8: compiled code on every value there is.
// Each op for every target of this machine's ISA, and for one of each other (takes_turn).
#include <gtest/gtest.h>

#include "aot/graph/float_bits.h"
#include "tests/support/op_agreement.h"
#include "tests/support/op_executor.h"

namespace ingot {
namespace {

RefTensor value_of_bits(DType dtype, uint64_t bits) {
  RefTensor value({dtype, {1}});
  if (value.is_float()) {
    value.f[0] = float_from_bits(dtype, bits);
  } else {
    value.i[0] = wrap_to(dtype, static_cast<int64_t>(bits));
  }
  return value;
}

// Operand `i`: its bits are the i-th lowest of the element's number.
RefTensor every_value(const TensorType& type, int i) {
  RefTensor tensor(type);
  const int bits = info(type.dtype).bits;
  for (int64_t k = 0; k < tensor.elements(); ++k) {
    tensor.copy_element(k, value_of_bits(type.dtype, k >> (i * bits) & ((1 << bits) - 1)), 0);
  }
  return tensor;
}

// None where the op does not take `arity` operands of the dtype and nothing else.
std::optional<OpCase> exhaustive_case(const OpDef& def, int arity, DType dtype) {
  const TensorType type{dtype, {int64_t{1} << (arity * info(dtype).bits)}};
  const std::vector<TensorType> operands(arity, type);
  TensorType result;
  try {
    result = def.infer({def.name, operands, {}, {}, {}, {}}).at(0);
  } catch (const Error&) {
    return std::nullopt;
  }
  std::string text = "func.func @main(", types, names;
  for (int i = 0; i < arity; ++i) {
    const std::string name = "%a" + std::to_string(i), comma = i == 0 ? "" : ", ";
    text += comma + name + ": " + to_string(type);
    names += comma + name;
    types += comma + to_string(type);
  }
  text += ") -> " + to_string(result) + " {\n  %r = \"" + std::string(def.name) + "\"(" + names + ") : (" + types +
          ") -> " + to_string(result) + "\n  return %r : " + to_string(result) + "\n}\n";
  OpCase op_case{&def, {.text = text}, parse_module(text, "exhaustive", all_ops()), {}, {}, {}, {}};
  for (int i = 0; i < arity; ++i) op_case.inputs.push_back(every_value(type, i));
  op_case.expected = evaluate(op_case.main(), op_case.inputs);
  op_case.exact = op_case.magnitudes = evaluate(op_case.main(), op_case.inputs, {.round = false});
  return op_case;
}

// Runs what can be run; the number of cases that an emulator leaves out.
int check_on(const loops::Target& target, const std::vector<OpCase>& cases) {
  CompiledOps executor(target);
  if (!can_run(target)) {
    executor.compile_only(cases);
    return 0;
  }
  int left_out = 0;
  const std::vector<std::vector<RefTensor>> results = executor.run(cases);
  for (size_t k = 0; k < cases.size(); ++k) {
    if (executor.leaves_out(cases[k])) {
      ++left_out;
      continue;
    }
    EXPECT_EQ(disagreement(cases[k], 0, results[k].at(0)), "") << target.name << "\n" << cases[k].sample.text;
  }
  return left_out;
}

void expect_agreement(int arity, std::span<const DType> dtypes) {
  constexpr size_t kShares = 6;  // of which rows take turns
  std::vector<OpCase> shares[kShares];
  size_t count = 0;
  for (const OpDef* def : all_ops().all()) {
    if (!def->is_elementwise || !def->element) continue;
    for (const DType dtype : dtypes) {
      if (auto op_case = exhaustive_case(*def, arity, dtype)) shares[count++ % kShares].push_back(std::move(*op_case));
    }
  }
  int left_out = 0;
  for (const loops::Target& target : loops::all_targets()) {
    for (size_t k = 0; k < kShares; ++k) {
      if (takes_turn(target, static_cast<int64_t>(k))) left_out += check_on(target, shares[k]);
    }
  }
  std::printf("  %zu ops and dtypes, %d of them left out by an emulator\n", count, left_out);
}

TEST(Exhaustive, UnaryOpsOfUpTo16Bits) {
  const DType dtypes[] = {DType::kF16, DType::kBF16, DType::kI16, DType::kUI16, DType::kI8,
                          DType::kUI8, DType::kI4,   DType::kUI4, DType::kI1};
  expect_agreement(1, dtypes);
}

TEST(Exhaustive, BinaryOpsOfUpTo8Bits) {
  const DType dtypes[] = {DType::kI8, DType::kUI8, DType::kI4, DType::kUI4, DType::kI2, DType::kUI2, DType::kI1};
  expect_agreement(2, dtypes);
}

}  // namespace
}  // namespace ingot
