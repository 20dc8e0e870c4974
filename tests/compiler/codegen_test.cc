#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <new>
#include <random>
#include <sstream>

#include "aot/codegen/compile.h"
#include "aot/codegen/disassemble.h"
#include "aot/codegen/execute.h"
#include "aot/codegen/link.h"
#include "aot/loops/interpret.h"
#include "aot/loops/scalar.h"
#include "tests/support/error_of.h"
#include "tests/support/file_text.h"
#include "tests/support/kernel_agreement.h"
#include "tests/support/random_kernel.h"
#include "tests/support/sample_kernels.h"

namespace ingot::codegen {
namespace {

using namespace loops;  // NOLINT

// More vectors alive at once than there are registers.
Kernel spilling_kernel() {
  constexpr int kVectors = 64, kLanes = 8;
  KernelBuilder b("spilling", kLanes);
  const BufferId x = b.input("x", DType::kF32, kVectors * kLanes);
  const BufferId y = b.output("y", DType::kF32, kLanes);
  std::vector<Expr> vectors;
  for (int k = 0; k < kVectors; ++k) {
    vectors.push_back(b.let("v", b.apply(ScalarOp::kSqrt, {b.load(x, b.lane() + k * kLanes)})));
  }
  Expr value = b.constant(DType::kF32, 1);
  for (int k = 0; k < kVectors; ++k) value = b.let("up", b.apply(ScalarOp::kDivide, {value, vectors[k]}));
  for (int k = kVectors; k-- > 0;) value = b.let("down", b.apply(ScalarOp::kDivide, {value, vectors[k]}));
  b.store(y, b.lane(), value);
  return b.finish();
}

// The bytes that the functions of an assembly text take off the stack pointer, and those of their return addresses.
uint64_t stack_in(const std::string& assembly) {
  uint64_t bytes = 0;
  std::istringstream lines(assembly);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find("subq\t$");
    if (at != line.npos && line.ends_with(", %rsp")) bytes += std::stoull(line.substr(at + 6));
    if (line.find("pushq\t") != line.npos) bytes += 8;
    if (line.ends_with("@function")) bytes += 8;
  }
  return bytes;
}

TEST(Codegen, SaysHowMuchStackAKernelUses) {
  uint64_t largest = 0;
  for (const Kernel& kernel : {scale_kernel(1001, 8), dot_bias_relu({.m = 32, .n = 21, .k = 13}), spilling_kernel()}) {
    std::string assembly;
    CodegenOptions options;
    options.dump = [&](std::string_view stage, std::string_view text) {
      if (stage == "asm") assembly = text;
    };
    const CodeImage image = compile(std::span(&kernel, 1), find_target("x86-64-v3"), options);
    ASSERT_EQ(image.stack_bytes.size(), 1u);
    const uint64_t used = stack_in(assembly);
    EXPECT_GE(image.stack_bytes[0], used) << assembly;
    EXPECT_LE(image.stack_bytes[0], used + 1024);
    largest = std::max(largest, used);
  }
  EXPECT_GT(largest, 1000u) << "no kernel has a frame to speak of";
}

// Stores the first `count` lanes of what it loads.
Kernel kernel_of_first_lanes(DType dtype, int lanes, int64_t count) {
  KernelBuilder b("first_lanes", lanes);
  const BufferId x = b.input("x", dtype, lanes), y = b.output("y", dtype, count);
  b.store(y, b.lane(), b.load(x, b.lane()), b.in_range(b.lane(), 0, count));
  return b.finish();
}

// Without registers for masks a masked store is slow, or a branch for each lane.
TEST(Codegen, FirstLanesAreStoredInPieces) {
  std::vector<Kernel> kernels;
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kBF16, DType::kI1}) {
    for (const int lanes : {4, 8, 16}) {
      for (int64_t count = 1; count <= lanes; ++count) kernels.push_back(kernel_of_first_lanes(dtype, lanes, count));
    }
  }
  expect_same(kernels);
  const Kernel six = kernel_of_first_lanes(DType::kF32, 8, 6);
  std::string assembly;
  CodegenOptions options;
  options.dump = [&](std::string_view stage, std::string_view text) {
    if (stage == "asm") assembly = text;
  };
  compile(std::span(&six, 1), find_target("x86-64-v3"), options);
  EXPECT_EQ(assembly.find("vmaskmov"), std::string::npos) << assembly;
}

// A loop that reads `count` places of x, `factor` elements further each time, and writes 3 further. Where the places come
// from data, a variable of the body takes part.
Kernel strided_kernel(int count, int64_t factor, bool from_data, int64_t task_count) {
  constexpr int64_t kTrips = 20;
  KernelBuilder b("strided", 1);
  const int64_t reach = kTrips * std::abs(factor) + 100;
  const BufferId x = b.input("x", DType::kF32, count * reach);
  const BufferId places = b.input("places", DType::kI32, kTrips);
  const BufferId y = b.output("y", DType::kF32, 3 * kTrips * task_count);
  b.set_task_count(task_count);
  b.loop("i", b.task() * 7, kTrips, 1, [&](Index i) {
    Expr sum = b.constant(DType::kF32, 0);
    for (int k = 0; k < count; ++k) {
      Index at = i * factor + Index(k * reach + (factor < 0 ? reach - 100 : 0)) + b.task() * 2;
      if (from_data)
        at = at +
             b.let_index("place", b.apply(ScalarOp::kAnd, {b.load(places, i), b.constant_int(DType::kI32, 15)}), 0, 15);
      sum = b.apply(ScalarOp::kAdd, {sum, b.load(x, at)});
    }
    b.store(y, i * 3 + b.task() * (3 * kTrips), sum);
  });
  return b.finish();
}

TEST(Codegen, InnermostLoopsWalk) {
  std::vector<Kernel> kernels;
  for (const int count : {1, 4, 5}) {  // as pointers, and with an offset that they share
    for (const int64_t factor : {2, 3, 50, -5}) {
      for (const bool from_data : {false, true}) {
        for (const int64_t tasks : {1, 3}) kernels.push_back(strided_kernel(count, factor, from_data, tasks));
      }
    }
  }
  expect_same(kernels);
}

// Two accesses and a sum, of which x86's takes one from memory, their pointers' steps, the counter's, and a jump.
TEST(Codegen, InnermostLoopsDoNothingElse) {
  for (const auto& [name, instructions] : {std::pair("x86-64-v3", 6), {"x86-64-v4", 6}, {"cortex-m7", 7}}) {
    const Kernel kernel = strided_kernel(1, 50, false, 1);
    const Target& target = find_target(name);
    const CodeImage image = compile(std::span(&kernel, 1), target);
    const HotLoop loop = find_hot_loop(image, target, entry_symbol(std::span(&kernel, 1), 0));
    EXPECT_EQ(loop.instructions, instructions) << name << "\n" << loop.text;
  }
}

// A counter whose values are read, or that only counts the turns.
Kernel counting_kernel(int64_t start, int64_t end, int64_t step, bool is_read) {
  KernelBuilder b("counting", 1);
  const int64_t places = end - start;
  const BufferId x = b.input("x", DType::kI32, 5 * places), y = b.output("y", DType::kI32, 3 * places);
  b.loop("i", start, end, step, [&](Index i) {
    const Expr value = b.load(x, (i - start) * 5);
    b.store(y, (i - start) * 3, is_read ? b.apply(ScalarOp::kAdd, {value, b.index_value(i, DType::kI32)}) : value);
  });
  return b.finish();
}

TEST(Codegen, LoopsCount) {
  std::vector<Kernel> kernels;
  for (const int64_t start : {-5, 0, 3}) {
    for (const int64_t step : {1, 3, 4}) {
      for (const int64_t end : {start + 1, start + 5, start + 12, start + 40}) {
        for (const bool is_read : {false, true}) kernels.push_back(counting_kernel(start, end, step, is_read));
      }
    }
  }
  expect_same(kernels);
}

constexpr int64_t kElements = 64;

// The last copy's loads are behind what the one before stores; otherwise all loads come first.
TEST(Codegen, CopiesThatAreApartStayInOrder) {
  for (const bool apart : {false, true}) {
    KernelBuilder b("neighbours", 1);
    const BufferId x = b.input("x", DType::kF32, kElements + 1), y = b.output("y", DType::kF32, kElements);
    const auto sum_at = [&](const Index& i) {
      b.store(y, i, b.apply(ScalarOp::kAdd, {b.load(x, i), b.load(x, i + 1)}));
    };
    b.loop("i", 0, kElements, 2, [&](Index i) { b.unrolled("u", 2, [&](Index u) { sum_at(i + u); }, apart); });
    const Kernel kernel = b.finish();
    EXPECT_EQ(print(parse_kernel(print(kernel))), print(kernel));
    const Target& target = find_target("riscv64");
    const CodeImage image = compile(std::span(&kernel, 1), target);
    const HotLoop loop = find_hot_loop(image, target, entry_symbol(std::span(&kernel, 1), 0));
    EXPECT_EQ(loop.text.rfind("flw") > loop.text.find("fsw"), apart) << loop.text;
    expect_same({kernel});
  }
}

TEST(Codegen, WithoutMemoryItEndsWithAMessage) {
  const Kernel kernel = spilling_kernel();
  CodegenOptions options;
  options.dump = [](std::string_view, std::string_view) {  // in the midst of LLVM's work: what `new` calls
    if (const std::new_handler handler = std::get_new_handler()) handler();
  };
  EXPECT_EXIT(compile(std::span(&kernel, 1), find_target("x86-64-v3"), options), testing::ExitedWithCode(1),
              "error: out of memory");
}

TEST(Codegen, SampleKernels) {
  expect_same({scale_kernel(1001, 8), scale_kernel(1001, 1), dot_bias_relu({.m = 32, .n = 21, .k = 13}),
               dot_bias_relu({.m = 12, .n = 32, .k = 64})});
}

bool is_primitive_of(ScalarOp op, DType dtype) { return info(op).is_primitive && accepts(op, dtype); }

std::vector<DType> all_dtypes(bool registers_only) {
  std::vector<DType> dtypes;
  for (int k = 0; k < kDTypeCount; ++k) {
    const auto dtype = static_cast<DType>(k);
    if (is_complex(dtype) || is_narrow_float(dtype)) continue;  // the graph's alone
    if (!registers_only || register_dtype(dtype) == dtype) dtypes.push_back(dtype);
  }
  return dtypes;
}

// One output for each primitive operation of one dtype.
Kernel every_operation(DType dtype, int lanes) {
  KernelBuilder b("every_" + to_string(dtype), lanes);
  const BufferId condition = b.input("condition", DType::kI1, kElements);
  const BufferId inputs[] = {b.input("x", dtype, kElements), b.input("y", dtype, kElements),
                             b.input("z", dtype, kElements)};
  std::vector<std::pair<ScalarOp, BufferId>> outputs;
  for (int k = 0; k <= static_cast<int>(ScalarOp::kSelect); ++k) {
    const auto op = static_cast<ScalarOp>(k);
    if (is_primitive_of(op, dtype))
      outputs.emplace_back(op, b.output(std::string(info(op).text), result_dtype(op, dtype), kElements));
  }
  for (const auto& [op, output] : outputs) {
    b.loop("i", 0, kElements, lanes, [&](Index i) {
      std::vector<Expr> args;
      for (int k = 0; k < info(op).arity; ++k) args.push_back(b.load(inputs[k], i + b.lane()));
      if (is_dot_pairs(op)) {
        for (const int k : {0, 1}) args[k] = b.bitcast(DType::kI32, args[k]);
      }
      if (op == ScalarOp::kSelect) args[0] = b.load(condition, i + b.lane());
      b.store(output, i + b.lane(), b.apply(op, args));
    });
  }
  return b.finish();
}

TEST(Codegen, EveryOperation) {
  std::vector<Kernel> kernels;
  for (const DType dtype : all_dtypes(true)) {
    for (const int lanes : {1, 8}) kernels.push_back(every_operation(dtype, lanes));
  }
  expect_same(kernels, 10);
}

// Every constant bound takes the short way through maximum and minimum.
TEST(Codegen, ExtremaWithConstants) {
  std::vector<Kernel> kernels;
  for (const double bound : {0.0, -0.0, 1.0, -1.0, static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    for (const ScalarOp op : {ScalarOp::kMaximum, ScalarOp::kMinimum}) {
      KernelBuilder b("extremum", 8);
      const BufferId x = b.input("x", DType::kF32, kElements);
      const BufferId y = b.output("y", DType::kF32, kElements);
      b.loop("i", 0, kElements, 8, [&](Index i) {
        b.store(y, i + b.lane(), b.apply(op, {b.constant(DType::kF32, bound), b.load(x, i + b.lane())}));
      });
      kernels.push_back(b.finish());
    }
  }
  expect_same(kernels);
}

// Loads, stores, conversions to every dtype, rounding and bit casts from one dtype.
Kernel every_conversion(DType from, int lanes) {
  KernelBuilder b("convert_" + to_string(from), lanes);
  const BufferId x = b.input("x", from, kElements);
  std::vector<std::function<void(Index)>> stores;
  const auto add = [&](const std::string& name, DType to, const std::function<Expr(Expr)>& change) {
    const BufferId y = b.output(name, to, kElements);
    stores.push_back([&b, x, y, change](Index i) { b.store(y, i + b.lane(), change(b.load(x, i + b.lane()))); });
  };
  for (const DType to : all_dtypes(false)) {
    add("to_" + to_string(to), to, [&b, to](Expr v) { return b.convert(to, v); });
    if (is_float(from) && is_float(to)) {
      add("round_" + to_string(to), register_dtype(from), [&b, to](Expr v) { return b.round(to, v); });
    }
    if (register_dtype(to) == to && info(to).bits == info(register_dtype(from)).bits) {
      add("bits_" + to_string(to), to, [&b, to](Expr v) { return b.bitcast(to, v); });
    }
  }
  for (const auto& store : stores) b.loop("i", 0, kElements, lanes, store);
  return b.finish();
}

TEST(Codegen, EveryConversion) {
  std::vector<Kernel> kernels;
  for (const DType dtype : all_dtypes(false)) {
    for (const int lanes : {1, 8}) kernels.push_back(every_conversion(dtype, lanes));
  }
  expect_same(kernels, 10);
}

// Contiguous, reversed, strided, indexed and repeated places; with and without masks; loads and stores.
Kernel every_access(DType dtype, int lanes) {
  KernelBuilder b("access_" + to_string(dtype), lanes);
  const int64_t elements = 128;
  const BufferId x = b.input("x", dtype, elements);
  const BufferId places = b.input("places", DType::kI64, lanes);
  const BufferId masks = b.input("masks", DType::kI1, lanes);
  std::vector<BufferId> outputs;
  for (int k = 0; k < 20; ++k) outputs.push_back(b.output("y" + std::to_string(k), dtype, elements));
  const Expr mask = b.load(masks, b.lane());
  const Expr place = b.apply(ScalarOp::kAnd, {b.load(places, b.lane()), b.constant_int(DType::kI64, elements - 1)});
  const Index indexed = b.let_index("p", place, 0, elements - 1);
  const Index ways[] = {b.lane() + 3, Index(elements - 1) - b.lane(), b.lane() * 3, indexed, Index(5)};
  size_t k = 0;
  for (const Index& way : ways) {
    b.store(outputs[k++], b.lane(), b.load(x, way));
    b.store(outputs[k++], b.lane(), b.load(x, way, mask));
    b.store(outputs[k++], way, b.load(x, b.has_lanes(way) ? b.lane() : Index(0)));
    const Expr when = b.has_lanes(way) ? mask : b.load(masks, 0);
    b.store(outputs[k++], way, b.load(x, b.has_lanes(way) ? b.lane() : Index(1)), when);
  }
  return b.finish();
}

TEST(Codegen, EveryAccess) {
  std::vector<Kernel> kernels;
  for (const DType dtype : all_dtypes(false)) {
    for (const int lanes : {1, 8, 32}) kernels.push_back(every_access(dtype, lanes));
  }
  expect_same(kernels);
}

// Indices that a program's data gives may be anything: a mask rejects those outside.
TEST(Codegen, IndicesFromData) {
  std::vector<Kernel> kernels;
  for (const int lanes : {1, 8}) {
    KernelBuilder b("lookup", lanes);
    const BufferId table = b.input("table", DType::kF32, 40);
    const BufferId rows = b.input("rows", DType::kI64, kElements);
    const BufferId y = b.output("y", DType::kF32, kElements);
    const Var unknown;
    b.loop("i", 0, kElements, lanes, [&](Index i) {
      const Index row = b.let_index("row", b.load(rows, i + b.lane()), unknown.low, unknown.high);
      b.store(y, i + b.lane(), b.load(table, row + 2, b.in_range(row + 2, 0, 40)));
    });
    kernels.push_back(b.finish());
  }
  expect_same(kernels, 20);
}

Kernel every_reduction(DType dtype, int lanes) {
  KernelBuilder b("reduce_" + to_string(dtype), lanes);
  const BufferId x = b.input("x", dtype, kElements);
  std::vector<std::pair<ScalarOp, BufferId>> outputs;
  for (const ScalarOp op :
       {ScalarOp::kAdd, ScalarOp::kMultiply, ScalarOp::kMaximum, ScalarOp::kMinimum, ScalarOp::kAnd}) {
    if (is_primitive_of(op, dtype))
      outputs.emplace_back(op, b.output(std::string(info(op).text), dtype, kElements / lanes));
  }
  for (const auto& [op, output] : outputs) {
    b.loop("i", 0, kElements / lanes, 1,
           [&](Index i) { b.store(output, i, b.reduce(op, b.load(x, i * lanes + b.lane()))); });
  }
  return b.finish();
}

TEST(Codegen, EveryReduction) {
  std::vector<Kernel> kernels;
  for (const DType dtype : all_dtypes(true)) {
    for (const int lanes : {1, 2, 8, 16}) kernels.push_back(every_reduction(dtype, lanes));
  }
  expect_same(kernels);
}

TEST(Codegen, RandomKernels) {
  std::vector<Kernel> kernels;
  for (uint64_t seed = 0; seed < 100; ++seed) kernels.push_back(random_kernel(seed, seed % 3 == 0 ? 1 : 8));
  expect_same(kernels);
}

// Outputs that replace inputs give the same in their memory as elsewhere.
TEST(Codegen, InPlace) {
  const Kernel kernel = adam(10001);
  const Executable executable(compile(std::span(&kernel, 1), find_target("host")));
  std::mt19937_64 random(5);
  Operands apart(kernel);
  Operands shared(kernel);
  for (size_t k = 0; k < apart.starts.size(); ++k) {
    const loops::Buffer& buffer = kernel.buffers[k];
    fill(buffer.dtype, buffer.elements, apart.starts[k], random);
    std::memcpy(shared.starts[k], apart.starts[k], buffer.elements * info(buffer.dtype).bytes);
    if (buffer.may_alias >= 0) shared.starts[k] = shared.starts[buffer.may_alias];
  }
  loops::Interpreter interpreter(kernel);
  for (int64_t task = 0; task < kernel.task_count; ++task) {
    interpreter.run(apart.starts, task);
    executable.run(0, shared.starts, task);
  }
  for (size_t k = 0; k < apart.starts.size(); ++k) {
    const loops::Buffer& buffer = kernel.buffers[k];
    if (buffer.role == BufferRole::kInput) continue;
    EXPECT_TRUE(equal(buffer.dtype, buffer.elements, apart.starts[k], shared.starts[k])) << buffer.name;
  }
}

// What multiplies and adds in a target's code, or where a whole vector's register is named.
struct Wide {
  std::string_view target, text;
  bool is_vector = true;
  double instructions_most = 1.75;  // for each of them
};

const Wide& wide_instruction(std::string_view target) {
  static constexpr Wide kWide[] = {{"x86-64-v3", "%ymm"},      {"x86-64-v4", "%zmm"},
                                   {"x86-64-v4-vnni", "%zmm"}, {"x86-64-v4-bf16", "%zmm"},
                                   {"aarch64", "fmla"},        {"aarch64-dotprod", "fmla"},
                                   {"aarch64-bf16", "fmla"},   {"riscv64", "fmadd.s", false},
                                   {"riscv64-v", "vfmacc"},    {"cortex-m7", "vfma.f32", false, 1.85}};
  const auto found = std::ranges::find(kWide, target, &Wide::target);
  if (found == std::end(kWide)) throw std::runtime_error("name the instruction of " + std::string(target));
  return *found;
}

// The micro-kernel as each target's row has it: no spill in the loop that does the work.
TEST(Codegen, MicroKernelsDoNotSpill) {
  for (const Target& target : all_targets()) {
    const int lanes = target.lanes(DType::kF32);
    const RegisterTile& tile = target.tile(DType::kF32);
    const Kernel kernels[] = {dot_bias_relu({.m = 8 * tile.rows,
                                             .n = 4 * tile.columns,
                                             .k = 256,
                                             .rows = tile.rows,
                                             .vectors = tile.columns / lanes,
                                             .lanes = lanes})};
    const CodeImage image = compile(kernels, target);
    const HotLoop loop = find_hot_loop(image, target, entry_symbol(kernels, 0));
    EXPECT_EQ(loop.stack_references, 0) << target.name << "\n" << loop.text;
    const Wide& wide = wide_instruction(target.name);
    const int64_t vectors = 4 * tile.rows * tile.columns / lanes;
    EXPECT_EQ(loop.multiply_adds, wide.is_vector ? vectors : vectors * lanes) << target.name << "\n" << loop.text;
    EXPECT_LE(loop.instructions, loop.multiply_adds * wide.instructions_most) << target.name << "\n" << loop.text;
    EXPECT_NE(loop.text.find(wide.text), std::string::npos) << target.name;
  }
}

// What a C compiler made of code that needs something from outside must not pass.
std::string rejection(const char* path) {
  const std::string object = file_text(path);
  EXPECT_FALSE(object.empty()) << path;
  const std::string error = error_of([&] { link(std::span(&object, 1), {}); });
  EXPECT_TRUE(error.starts_with("bug: ")) << error;
  return error;
}

TEST(Codegen, LinkRejectsWhatDoesNotStandAlone) {
  EXPECT_NE(rejection(INGOT_NEEDS_SYMBOL).find("outside_function"), std::string::npos);
  EXPECT_NE(rejection(INGOT_NEEDS_RELOCATION).find("dynamic relocations"), std::string::npos);
  EXPECT_NE(rejection(INGOT_NEEDS_DATA).find("writable data"), std::string::npos);
  EXPECT_NE(rejection(INGOT_NEEDS_SECTION).find("that the image would lack: .odd"), std::string::npos);
}

TEST(Codegen, SameImageForAnyThreads) {
  std::vector<Kernel> kernels{scale_kernel(1001, 8)};
  for (int64_t k = 0; k < 20; ++k) kernels.push_back(dot_bias_relu({.m = 13 + k, .n = 35, .k = 64}));
  const Target& target = find_target("x86-64-v3");
  for (const size_t count : {size_t{3}, kernels.size()}) {
    size_t groups = 0;
    const auto compiled = [&](uint32_t threads) {
      groups = 0;
      const auto count_groups = [&](std::string_view stage, std::string_view) { groups += stage == "llvm"; };
      return compile(std::span(kernels).first(count), target, {.threads = threads, .dump = count_groups}).bytes;
    };
    const auto one = compiled(1);
    EXPECT_EQ(compiled(2), one);
    EXPECT_EQ(compiled(7), one);
    EXPECT_EQ(groups > 2, count > 3) << groups;
  }
}

}  // namespace
}  // namespace ingot::codegen
