// `ingot compile --memory-limit`: what it takes, what it says, and that results stay as they are.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/ingot/terminal/byte_count.h"
#include "tests/tool/cli_fixture.h"

namespace ingot {
namespace {

constexpr int kLayers = 6;
constexpr int64_t kLayerBytes = 64 * 64 * 4;

// Products of products, read again in the opposite order: all of them are kept, or made again.
std::string there_and_back() {
  const std::string type = "tensor<64x64xf32>";
  std::string text = fmt::format("func.func @main(%x: {0} {{ingot.name = \"x\"}}) -> {0} {{\n", type);
  auto add = [&, made = 0](const std::string& lhs, const std::string& rhs) mutable {
    text += fmt::format("  %{} = stablehlo.dot_general {}, {}, contracting_dims = [1] x [0] : ({}, {}) -> {}\n", ++made,
                        lhs, rhs, type, type, type);
    return fmt::format("%{}", made);
  };
  std::vector<std::string> layers = {"%x"};
  for (int i = 0; i < kLayers; ++i) layers.push_back(add(layers.back(), "%x"));
  std::string back = layers.back();
  for (int i = kLayers; i-- > 1;) back = add(back, layers[i]);
  return text + fmt::format("  return {} : {}\n}}\n", back, type);
}

constexpr int kRows = 256;

// A gradient of layers, each of which is read again on the way back, for a batch of rows.
std::string gradient_of_layers() {
  const std::string rows = fmt::format("tensor<{}x32xf32>", kRows), weights = "tensor<32x32xf32>";
  std::string text = fmt::format(
      "func.func @main(%x: {0} {{ingot.name = \"x\"}}, %w: {1} {{ingot.name = \"w\"}}) -> {1} {{\n", rows, weights);
  auto layer = [&](const std::string& to, const std::string& from) {
    text += fmt::format("  %p{0} = stablehlo.dot_general {1}, %w, contracting_dims = [1] x [0] : ({2}, {3}) -> {2}\n",
                        to, from, rows, weights);
  };
  for (int i = 0; i < kLayers; ++i) {
    layer(fmt::format("{}", i), i == 0 ? "%x" : fmt::format("%h{}", i - 1));
    text += fmt::format("  %h{0} = stablehlo.tanh %p{0} : {1}\n", i, rows);
  }
  std::string back = fmt::format("%h{}", kLayers - 1);
  for (int i = kLayers - 1; i-- > 0;) {
    layer(fmt::format("b{}", i), back);
    text += fmt::format("  %b{0} = stablehlo.multiply %pb{0}, %h{0} : {1}\n", i, rows);
    back = fmt::format("%b{}", i);
  }
  return text + fmt::format(
                    "  %dw = stablehlo.dot_general %x, {0}, contracting_dims = [0] x [0] : ({1}, {1}) -> {2}\n"
                    "  return %dw : {2}\n}}\n",
                    back, rows, weights);
}

nlohmann::json entry_of(const std::string& report) { return nlohmann::json::parse(report)["targets"][0]["entries"][0]; }

class CliMemoryTest : public CliTest {
 protected:
  CliMemoryTest() { write("deep.mlir", there_and_back()); }

  std::string output_of(const std::string& name) const {
    done(fmt::format("run {0}.ingot --input x=random --save-outputs {0}", name));
    return read_text(path(name + "/result0.npy"));
  }
};

TEST_F(CliMemoryTest, ALimitIsMetAndChangesNoBit) {
  const auto whole = entry_of(done("compile deep.mlir -o whole.ingot --target host --json"));
  const int64_t whole_bytes = whole["arena_bytes"].get<int64_t>() + whole["scratch_bytes"].get<int64_t>();
  EXPECT_GE(whole["arena_bytes"].get<int64_t>(), (kLayers - 1) * kLayerBytes);
  const int64_t limit_bytes = whole_bytes - 2 * kLayerBytes;
  const std::string command =
      fmt::format("compile deep.mlir -o small.ingot --target host --memory-limit deep={}", limit_bytes);
  const auto small = entry_of(done(command + " --json"));
  EXPECT_LE(small["arena_bytes"].get<int64_t>() + small["scratch_bytes"].get<int64_t>(), limit_bytes);
  EXPECT_EQ(small["memory_limit_bytes"].get<int64_t>(), limit_bytes);
  EXPECT_EQ(small["unlimited_bytes"].get<int64_t>(), whole_bytes);
  EXPECT_GT(small["kernels_run_again"].get<int>(), 0);
  EXPECT_GT(small["steps"].get<int>(), whole["steps"].get<int>());

  const auto least = entry_of(done("compile deep.mlir -o least.ingot --target host --memory-limit least --json"));
  EXPECT_EQ(least["memory_limit_bytes"], "least");
  EXPECT_LT(least["arena_bytes"].get<int64_t>(), small["arena_bytes"].get<int64_t>());

  EXPECT_EQ(output_of("small"), output_of("whole"));
  EXPECT_EQ(output_of("least"), output_of("whole"));

  const std::string explained = done(command + " --explain memory");
  for (const char* part : {"memory of deep for ", "\n  deep.mlir:", "once more", " kernels run again, "}) {
    EXPECT_NE(explained.find(part), std::string::npos) << explained;
  }
}

TEST_F(CliMemoryTest, MistakesAreSaid) {
  const std::string least = refused("compile deep.mlir -o x.ingot --target host --memory-limit 1KiB");
  for (const char* part : {"@deep takes ", " bytes at least for ", "more than the 1024 bytes of --memory-limit",
                           "tensor<64x64xf32>, 16384 bytes, made at deep.mlir:"}) {
    EXPECT_NE(least.find(part), std::string::npos) << least;
  }
  EXPECT_NE(refused("compile deep.mlir -o x.ingot --memory-limit plenty").find("is not [ENTRY=]BYTES"),
            std::string::npos);
  EXPECT_NE(refused("compile deep.mlir -o x.ingot --memory-limit least --largest batch").find("give one in bytes"),
            std::string::npos);
  EXPECT_NE(refused("compile deep.mlir -o x.ingot --memory-limit step=4MiB").find("there is no entry point 'step'"),
            std::string::npos);
  EXPECT_NE(refused("compile deep.mlir -o x.ingot --memory-limit 4MiB --memory-limit 5MiB").find("has two limits"),
            std::string::npos);
}

TEST_F(CliMemoryTest, ABatchIsComputedInAsFewPartsAsTheLimitNeeds) {
  write("layers.mlir", gradient_of_layers());
  const std::string command = "compile layers.mlir -o parts.ingot --target host ";
  const auto least = entry_of(done(command + "--memory-limit least --json"));
  const int64_t least_bytes = least["arena_bytes"].get<int64_t>() + least["scratch_bytes"].get<int64_t>();
  const std::string limited = fmt::format("{} --memory-limit {} ", command, least_bytes * 3 / 4);
  EXPECT_NE(refused(limited).find("fewer rows at a time take less: --micro-batches"), std::string::npos);

  const auto parts = entry_of(done(limited + "--micro-batches auto --json"));
  EXPECT_LE(parts["arena_bytes"].get<int64_t>() + parts["scratch_bytes"].get<int64_t>(), least_bytes * 3 / 4);
  EXPECT_GE(parts["micro_batches"].get<int>(), 2);
  EXPECT_EQ(parts["micro_batches"].get<int>() * parts["micro_batch_rows"].get<int>(), kRows);
  const std::string report = done(command + "--micro-batches layers=8");
  EXPECT_NE(report.find("8 micro-batches of 32 rows; what is summed over rows is so in another order"),
            std::string::npos);
}

TEST_F(CliMemoryTest, NumbersOfPartsThatCannotBeAreSaid) {
  write("layers.mlir", gradient_of_layers());
  const std::string command = "compile layers.mlir -o x.ingot --target host --micro-batches ";
  const std::pair<const char*, const char*> mistakes[] = {
      {"few", "--micro-batches few: is not [ENTRY=]NUMBER, as 4, or auto"},
      {"0", "--micro-batches 0: is not [ENTRY=]NUMBER, as 4, or auto"},
      {"step=4", "--micro-batches: there is no entry point 'step'; the entry points are layers"},
      {"4 --micro-batches 2", "--micro-batches: every entry point has two numbers; give one"},
      {"auto", "--micro-batches auto keeps --memory-limit: give every entry point one in bytes"},
      {"auto --memory-limit least", "--micro-batches auto keeps --memory-limit"},
      {"7", "the batch of @layers cannot be computed in parts: 7 does not divide its 256 rows"},
      {"auto --memory-limit 1KiB", "cannot be computed in parts: it has 256 rows"},
  };
  for (const auto& [options, error] : mistakes) {
    const std::string said = refused(command + options);
    EXPECT_NE(said.find(error), std::string::npos) << said;
  }
  EXPECT_NE(refused("compile deep.mlir -o x.ingot --target host --micro-batches 2").find("may not keep rows apart"),
            std::string::npos);
}

TEST(ByteCount, ReadsWhatPeopleWrite) {
  EXPECT_EQ(byte_count("65536"), 65536);
  EXPECT_EQ(byte_count("4MiB"), 4 << 20);
  EXPECT_EQ(byte_count("1.5KiB"), 1536);
  EXPECT_EQ(byte_count("2GB"), 2'000'000'000);
  EXPECT_EQ(byte_count("0"), 0);
  for (const char* text : {"", "MiB", "-1", "4 MiB", "4mib", "4MiBs", "1e9", "nan", "inf", "9000000TiB", "0x10"}) {
    EXPECT_EQ(byte_count(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace ingot
