// What LLVM gets wrong if nothing keeps it from it: right values, and the instructions that show it, for every target.
#include <gtest/gtest.h>

#include <iterator>

#include "aot/codegen/compile.h"
#include "aot/codegen/disassemble.h"
#include "aot/codegen/link.h"
#include "aot/loops/algebra.h"
#include "tests/support/error_of.h"
#include "tests/support/file_text.h"
#include "tests/support/kernel_agreement.h"

namespace ingot::codegen {
namespace {

constexpr int64_t kFencedElements = 64;
constexpr int kLanes = 16;

// Three operands of a dtype, and results.
class KernelMaker {
 public:
  KernelMaker(DType dtype, DType result_dtype)
      : b_("from_" + to_string(dtype) + "_to_" + to_string(result_dtype), kLanes), result_dtype_(result_dtype) {
    for (const char* name : {"x", "y", "z"}) inputs_.push_back(b_.input(name, dtype, kFencedElements));
  }
  explicit KernelMaker(DType dtype) : KernelMaker(dtype, dtype) {}

  // result = make(x, y, z)
  template <typename Make>
  void result(Make make) {
    const BufferId output = b_.output("r" + std::to_string(results_++), result_dtype_, kFencedElements);
    b_.loop("i", 0, kFencedElements, kLanes, [&](const Index& i) {
      const auto value = [&](size_t k) { return Scalar(b_, b_.load(inputs_[k], i + b_.lane())); };
      b_.store(output, i + b_.lane(), make(value(0), value(1), value(2)));
    });
  }

  Kernel finish() { return b_.finish(); }

 private:
  KernelBuilder b_;
  DType result_dtype_;
  std::vector<BufferId> inputs_;
  int results_ = 0;
};

std::string text_of(const std::vector<Kernel>& kernels, const Target& target) {
  const CodeImage image = compile(kernels, target);
  std::string text;
  for (const CodeImage::Function& function : image.functions) {
    for (const Instruction& instruction : disassemble(image, target, function.name)) text += instruction.text + "\n";
  }
  return text;
}

// Bits of two values by a constant mask, in either order, chosen or not beside either of them.
Kernel chosen_bits(DType dtype, uint64_t mask) {
  KernelMaker kernel(dtype);
  const auto bits_of_x = [&](const Scalar& x) { return x & x.bits(mask); };
  const auto bits_of_y = [&](const Scalar& y) { return y & y.bits(~mask); };
  kernel.result([&](auto x, auto y, auto z) { return where(x < z, bits_of_x(x) | bits_of_y(y), x); });
  kernel.result([&](auto x, auto y, auto z) { return where(x < z, bits_of_y(y) | bits_of_x(x), x); });
  kernel.result([&](auto x, auto y, auto z) { return where(x < z, bits_of_x(x) | bits_of_y(y), y); });
  kernel.result([&](auto x, auto y, auto z) { return where(x < z, y, bits_of_y(y) | bits_of_x(x)); });
  kernel.result([&](auto x, auto y, auto z) { return where(x < z, x, bits_of_y(y) | bits_of_x(z)); });
  return kernel.finish();
}

TEST(Fences, ChosenBitsAreTheRightOnes) {
  const std::vector<Kernel> kernels = {chosen_bits(DType::kI32, 0x80000000), chosen_bits(DType::kI32, 0x00FF00FF),
                                       chosen_bits(DType::kI64, uint64_t{1} << 63)};
  expect_same(kernels, 10);
  const std::string text = text_of(kernels, find_target("x86-64-v4"));
  EXPECT_NE(text.find("vpternlog"), std::string::npos) << "no select of bits in one instruction";
}

// A select between zero and what was converted, by comparisons before and after the conversion, of one and of two uses.
Kernel chosen_conversions(DType from, DType to) {
  KernelMaker kernel(from, to);
  for (const double zero : {0.0, -0.0}) {
    kernel.result([=](auto x, auto, auto) { return where(x < 0, zero, x.convert(to)); });
    kernel.result([=](auto x, auto, auto) { return where(x > 0, zero, x.convert(to)); });
    kernel.result([=](auto x, auto, auto) { return where(x < 0, x.convert(to), zero); });
    kernel.result([=](auto x, auto, auto) { return where(x > 0, x.convert(to), zero); });
    kernel.result([=](auto x, auto, auto) { return where(x.convert(to) < 0, zero, x.convert(to)); });
    kernel.result([=](auto x, auto y, auto) {
      const Scalar is_less = x < 0;
      return where(is_less, zero, x.convert(to)) + where(is_less, y.convert(to), zero);
    });
  }
  return kernel.finish();
}

TEST(Fences, ConvertedZerosKeepTheirSigns) {
  std::vector<Kernel> kernels;
  for (const DType from : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    for (const DType to : {DType::kF32, DType::kF64}) kernels.push_back(chosen_conversions(from, to));
  }
  expect_same(kernels, 20);
}

// A signalling NaN does not hide a number.
TEST(Fences, ComparisonsBecomeNoExtrema) {
  std::vector<Kernel> kernels;
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    KernelMaker kernel(dtype);
    kernel.result([](auto x, auto y, auto z) { return where((x >= z) | (y >= z), x.like(1), x.like(2)); });
    kernel.result([](auto x, auto y, auto z) { return where((x < z) | (z > y), x.like(1), x.like(2)); });
    kernel.result([](auto x, auto y, auto) { return where((x > 3) | (y > 3), x.like(1), x.like(2)); });
    kernel.result([](auto x, auto y, auto) { return where(!(x < 3) & !(y < 3), x.like(1), x.like(2)); });
    kernel.result([](auto x, auto, auto) { return where(x < 3, x, x.like(3)); });
    kernel.result([](auto x, auto, auto) { return where(x > 3, x, x.like(3)); });
    kernels.push_back(kernel.finish());
  }
  expect_same(kernels, 10);
  const std::string text = text_of(kernels, find_target("aarch64"));
  EXPECT_EQ(text.find("maxnm"), std::string::npos) << text;
  EXPECT_EQ(text.find("minnm"), std::string::npos) << text;
}

// masked_ternlog.ll as LLVM compiles it without a fence.
TEST(Fences, MaskedLogicOnMemoryIsRefused) {
  const std::string object = file_text(INGOT_MASKED_TERNLOG);
  ASSERT_FALSE(object.empty()) << INGOT_MASKED_TERNLOG;
  const CodeImage image = link(std::span(&object, 1), {});
  const std::string error = error_of([&] { check_instructions(image, find_target("x86-64-v4")); });
  EXPECT_TRUE(error.starts_with("bug: ")) << error;
  EXPECT_NE(error.find("chosen_bits has 'vpternlogd "), std::string::npos) << error;
}

}  // namespace
}  // namespace ingot::codegen
