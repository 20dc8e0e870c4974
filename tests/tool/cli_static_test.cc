// ingot compile --emit static, as its user meets it, on this machine and on a board without an operating system.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "tests/support/documented_table.h"
#include "tests/support/environment.h"
#include "tests/support/fashion_images.h"
#include "tests/support/static_program.h"
#include "tests/tool/cli_fixture.h"

namespace ingot {
namespace {

using CliStaticTest = CliTest;

TEST_F(CliStaticTest, AFolderHasThreeFilesOfItsName) {
  const std::string compile = "compile train_step=step.mlir predict.mlir --state first.safetensors --target host ";
  EXPECT_NE(done(compile + "--emit static -o my-net/").find("my-net/: "), std::string::npos);
  for (const char* name : {"my-net/my_net.h", "my-net/my_net.c", "my-net/my_net_kernels.o"}) {
    EXPECT_TRUE(std::filesystem::exists(path(name))) << name;
  }
  const std::string header = read_text(path("my-net/my_net.h"));
  for (const char* text :
       {"void my_net_start(void);", "extern float my_net_train_step_batch_x[32]; /* input batch.x: f32[8,4] */",
        "extern float my_net_predict_prediction[8]; /* output prediction: f32[8] */", "float w[4]; /* w: f32[4] */",
        "MY_NET_MUST_CHECK int my_net_predict(void);", "#define MY_NET_STATE_BYTES 64u"}) {
    EXPECT_NE(header.find(text), std::string::npos) << text << "\n" << header;
  }
  const std::string source = read_text(path("my-net/my_net.c")), object = read_text(path("my-net/my_net_kernels.o"));
  const auto report = nlohmann::json::parse(done(compile + "--emit static -o my-net --json"));
  EXPECT_EQ(report.at("static"), "my-net");
  EXPECT_EQ(report.at("bytes"), header.size() + source.size() + object.size());
  EXPECT_EQ(read_text(path("my-net/my_net.c")), source);
  EXPECT_EQ(read_text(path("my-net/my_net_kernels.o")), object);
}

// "#define NET_ARENA_BYTES 64u"
int64_t constant(const std::string& header, const std::string& name) {
  const size_t at = header.find(name + " ");
  return at == header.npos ? -1 : std::atoll(header.c_str() + at + name.size());
}

// Of what a header says that an example takes, by a column of docs/devices.md.
void expect_documented_memory(const std::string& header, const std::string& prefix, size_t column) {
  const DocumentedTable table("devices.md", "| bytes of | `shapes`");
  const struct {
    const char *part, *row;
  } rows[] = {{"CODE", "machine code"},        {"ARENA", "arena"}, {"STATE", "state"}, {"SCRATCH", "scratch"},
              {"PORTS", "inputs and outputs"}, {"STACK", "stack"}};
  for (const auto& [part, row] : rows)
    table.expect_bytes(row, column, constant(header, fmt::format("{}_{}_BYTES", prefix, part)));
}

// The programs of examples/cortex_m7.
class CliBoardTest : public CliTest {
 protected:
  // Compiles NAME.mlir for a target, with a learning rate; links NAME.c with it, in a folder of the target's name; and
  // runs that there. What it prints.
  std::string said(const std::string& name, const std::string& rate, const std::string& target,
                   const std::string& defines = "") const {
    const CTools tools = c_tools(target);
    const std::string example = INGOT_SOURCE_DIR "/examples/cortex_m7/" + name;
    std::filesystem::create_directory(path(target));
    done(
        fmt::format("compile {0}.mlir --train cross_entropy:labels --lr {3} --state zeros --strict "
                    "--target {1} --emit static -o {1}/{2}",
                    example, target, name, rate));
    std::ofstream(path(target + "/run")) << fmt::format(
        "{0} -O1 -c {1}/{1}.c -o {1}.o 2>log && "
        "{0} -O1 {3} {2}.c {1}.o {1}/{1}_kernels.o -I {1} -Wl,-Map=map -o app {5} 2>log && {4} ./app >said\n",
        tools.compiler, name, example, defines, tools.emulator, tools.board);
    const std::string line = fmt::format("cd {} && sh ./run", path(target));
    if (std::system(line.c_str()) != 0) throw std::runtime_error(line + "\n" + read_text(path(target + "/log")));
    return read_text(path(target + "/said"));
  }

  // What the program `shapes` prints on this machine; compiled once for all tests.
  std::string shapes_here() const {
    static const std::string once = said("shapes", "0.003", "host");
    return once;
  }

  static std::string missing() { return c_tools("host").missing() + c_tools("cortex-m7").missing(); }
};

// "120 of 128 new images"
double share_of_right(const std::string& said) {
  int right = 0, images = 1;
  const size_t at = said.rfind('\n', said.find(" new images"));
  EXPECT_EQ(std::sscanf(said.c_str() + at, "%d of %d", &right, &images), 2) << said;
  return static_cast<double>(right) / images;
}

TEST_F(CliBoardTest, TrainsToTheBitsOfThisMachine) {
  if (!missing().empty()) GTEST_SKIP() << "missing Debian packages: " << missing();
  const std::string here = shapes_here();
  EXPECT_EQ(here, said("shapes", "0.003", "cortex-m7"));
  EXPECT_GT(share_of_right(here), 0.75) << here;
  expect_documented_memory(read_text(path("cortex-m7/shapes/shapes.h")), "SHAPES", 0);
}

#ifdef INGOT_CORTEX_M7_ENGINE
// What a linked program has of the engine's code and constants, by the map of GNU's linker, where long names of sections
// have a line of their own.
int64_t engine_bytes(const std::string& map) {
  std::istringstream words(map.substr(map.find("Linker script and memory map")));
  int64_t bytes = 0;
  for (std::string word, section, address, size; words >> word;) {
    if (word.starts_with(".text") || word.starts_with(".rodata")) {
      words >> address >> size >> word;
      if (address.starts_with("0x") && word.find("libingot_engine.a(") != word.npos)
        bytes += std::strtoll(size.c_str(), nullptr, 16);
    }
  }
  return bytes;
}

class CliBoardEngineTest : public CliBoardTest {
 protected:
  // Links a C program with the engine without files, and with bundles that are there; runs it on the board. What it prints.
  std::string said_by_engine(const std::string& program, const std::vector<std::string>& bundles) const {
    const CTools tools = c_tools("cortex-m7");
    std::string sources = INGOT_SOURCE_DIR "/" + program;
    for (const std::string& name : bundles) {
      done(fmt::format("header {0}.ingot -o {0}.h --embed {0}.bundle.c", name));
      sources += fmt::format(" {}.bundle.c", name);
    }
    write("run",
          fmt::format("{0} -O1 {1} {2} -I . -I {3}/engine/include -I {3} -Wl,--gc-sections -Wl,-Map=map -o app "
                      "{4} 2>log && {5} ./app >said\n",
                      tools.compiler, sources, INGOT_CORTEX_M7_ENGINE, INGOT_SOURCE_DIR, tools.board, tools.emulator));
    const int status = std::system(fmt::format("cd {} && sh ./run", path(".")).c_str());
    EXPECT_EQ(status, 0) << read_text(path("log")) << read_text(path("said"));
    return read_text(path("said"));
  }
};

// The same program by the engine: its steps are a bundle that lies in flash.
TEST_F(CliBoardEngineTest, TrainsInFlashToTheBitsOfThisMachine) {
  if (!missing().empty()) GTEST_SKIP() << "missing Debian packages: " << missing();
  constexpr int64_t kEngineBytesMax = 24 * 1024;
  done("compile " INGOT_SOURCE_DIR
       "/examples/cortex_m7/shapes.mlir --train cross_entropy:labels --lr 0.003 "
       "--state zeros --strict --target cortex-m7 -o shapes.ingot");
  const std::string there = said_by_engine("examples/cortex_m7/shapes_engine.c", {"shapes"});
  const std::string here = shapes_here();
  EXPECT_TRUE(there.starts_with(here)) << here << "\n" << there;
  const int64_t bytes = engine_bytes(read_text(path("map")));
  fmt::print("  engine: {} bytes of code and constants\n{}", bytes, there.substr(std::min(here.size(), there.size())));
  EXPECT_GT(bytes, 10'000);
  EXPECT_LE(bytes, kEngineBytesMax);
  const DocumentedTable table("devices.md", "| bytes of `shapes_engine.c`");
  table.expect_bytes("the engine", 0, bytes);
  table.expect_bytes("the bundle", 0, static_cast<int64_t>(std::filesystem::file_size(path("shapes.ingot"))));
}

// Code for others is refused, and what no memory of 32 bits holds; clock, trace and deadline are the application's; numbers near 0 are kept whatever the FPU's
// mode was, and that is back afterwards; the state is a file that PCs read.
TEST_F(CliBoardEngineTest, KeepsWhatItPromisesOnABoard) {
  if (!missing().empty()) GTEST_SKIP() << "missing Debian packages: " << missing();
  write("scale.mlir", R"(
func.func @main(%w: tensor<4xf32> {ingot.state = "w"}, %x: tensor<4xf32> {ingot.name = "x"})
    -> (tensor<4xf32> {ingot.state = "w"}) {
  %n = stablehlo.multiply %w, %x : tensor<4xf32>
  return %n : tensor<4xf32>
}
)");
  done("compile scale=scale.mlir --target cortex-m7 -o scale.ingot");
  done("compile scale=scale.mlir --target x86-64-v3 -o foreign.ingot");
  write("huge.mlir", R"(
func.func @main(%x: tensor<1100000000xf32> {ingot.name = "x"}) -> (tensor<1xf32> {ingot.name = "first"}) {
  %n = stablehlo.slice %x [0:1] : (tensor<1100000000xf32>) -> tensor<1xf32>
  return %n : tensor<1xf32>
}
)");
  done("compile huge.mlir --target cortex-m7 -o huge.ingot");
  EXPECT_EQ(said_by_engine("tests/tool/board_engine.c", {"scale", "foreign", "huge"}),
            "'x86-64-v3' is code for x86-64, which this processor (armv7e-m) is not\n"
            "the bundle needs more memory than this processor has addresses for\n"
            "a step of 1000 ns\nthe FPU's mode is as it was\n");
  const std::vector<float> expected = {std::ldexp(0x80.p0f, -149), std::ldexp(0x100000.p0f, -149),
                                       std::ldexp(0x800000.p0f, -149), 2};
  EXPECT_EQ(weights("board.safetensors"), expected);
}
#endif

// Of an object's sections whose names start so, as GNU's linker lists them: " .bss  0x20000d40  0x2d800 net.o".
int64_t linked_bytes(const std::string& map, const std::string& section, const std::string& object) {
  int64_t bytes = 0;
  std::istringstream lines(map);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, address, size, file;
    words >> name >> address >> size >> file;
    if (line.starts_with(" ") && name.starts_with(section) && file.ends_with(object))
      bytes += std::strtoll(size.c_str(), nullptr, 16);
  }
  return bytes;
}

// What the objects take from elsewhere: of a C library what copies and clears memory, and no more.
void expect_no_library(const std::string& folder) {
  const std::string line = fmt::format(
      "cd {} && arm-none-eabi-ld -r fashion.o fashion/fashion_kernels.o -o all.o 2>log && arm-none-eabi-nm -u "
      "all.o >undefined",
      folder);
  ASSERT_EQ(std::system(line.c_str()), 0) << line;
  std::istringstream lines(read_text(folder + "/undefined"));
  for (std::string kind, symbol; lines >> kind >> symbol;)
    EXPECT_TRUE(symbol == "memcpy" || symbol == "memset") << symbol;
}

// RAM and flash are what the header says, by the linker's map and by what the board measures.
void expect_planned_memory(const std::string& header, const std::string& map, const std::string& measured) {
  constexpr int64_t kGapsMax = 1024, kRamMax = 256 << 10, kFlashMax = 1 << 20;  // gaps: arrays are aligned
  int64_t planned = 0;
  for (const char* part : {"ARENA", "STATE", "SCRATCH", "PORTS"})
    planned += constant(header, fmt::format("FASHION_{}_BYTES", part));
  const int64_t linked = linked_bytes(map, ".bss", "fashion.o") + linked_bytes(map, ".data", "fashion_kernels.o");
  EXPECT_GE(linked, planned);
  EXPECT_LE(linked, planned + kGapsMax);
  EXPECT_EQ(linked_bytes(map, ".text", "fashion_kernels.o"), constant(header, "FASHION_CODE_BYTES"));
  int flash = 0, ram = 0, stack = 0;
  ASSERT_EQ(std::sscanf(measured.c_str(), "flash %d bytes, RAM %d bytes, stack of a step %d", &flash, &ram, &stack), 3)
      << measured;
  EXPECT_GT(ram, linked);
  EXPECT_LE(ram + constant(header, "FASHION_STACK_BYTES"), kRamMax);
  EXPECT_GT(flash, constant(header, "FASHION_CODE_BYTES"));
  EXPECT_LE(flash, kFlashMax);
  EXPECT_GT(stack, 64);
  EXPECT_LE(stack, constant(header, "FASHION_STACK_BYTES"));
  expect_documented_memory(header, "FASHION", 1);
  const DocumentedTable table("devices.md", "| bytes of | `shapes`");
  table.expect_bytes("the linked program: flash", 1, flash);
  table.expect_bytes("the linked program: RAM", 1, ram);
  table.expect_bytes("the stack of a step measured", 1, stack);
  fmt::print("  planned {} bytes of RAM, linked {}; {}", planned, linked, measured);
}

// So many images of each part. False where they are not there.
bool write_images(const std::string& folder, int64_t images) {
  return write_fashion_images(folder, "train", images, "cat", "train-images", "train-labels") &&
         write_fashion_images(folder, "t10k", images, "cat", "test-images", "test-labels");
}

// A network learns on the board what this machine learns, to the last bit. INGOT_BOARD_IMAGES: from how many images.
TEST_F(CliBoardTest, LearnsGarments) {
  const int64_t images = number_from_environment("INGOT_BOARD_IMAGES", 100);
  const bool is_long = images >= 1000;
  if (!missing().empty()) GTEST_SKIP() << "missing Debian packages: " << missing();
  for (const char* target : {"host", "cortex-m7"}) {
    if (!write_images(path(target), images)) GTEST_SKIP() << "missing Debian packages: dataset-fashion-mnist";
  }
  const std::string defines = fmt::format("-DIMAGES={} -DEPOCHS={}", images, is_long ? 4 : 1);
  const std::string here = said("fashion", "0.002", "host", defines);
  const std::string there = said("fashion", "0.002", "cortex-m7", defines);
  ASSERT_TRUE(there.starts_with(here)) << here << "\n" << there;
  EXPECT_GT(share_of_right(here), is_long ? 0.75 : 0.4) << here;
  fmt::print("{}", here);
  expect_no_library(path("cortex-m7"));
  expect_planned_memory(read_text(path("cortex-m7/fashion/fashion.h")), read_text(path("cortex-m7/map")),
                        there.substr(here.size()));
}

TEST_F(CliStaticTest, MistakesAreNamed) {
  done("keygen release");
  write("file", "");
  const struct {
    const char *options, *says;
  } mistakes[] = {
      {"-o net --target x86-64-v3,aarch64", "is for one processor, and the targets are x86-64-v3, aarch64; name one"},
      {"-o file --target host", "file: cannot make this folder: "},
      {"-o missing/net --target host", "missing/net: cannot make this folder: No such file or directory"},
      {"-o net --target host --sign release.key", "--emit static writes no bundle"},
      {"-o net --target host", "state 'w' has no first value"},
      {"-o net --target pdp11", "unknown target 'pdp11'"},
  };
  for (const auto& [options, says] : mistakes) {
    const std::string said = refused(fmt::format("compile step.mlir --emit static {}", options));
    EXPECT_NE(said.find(says), std::string::npos) << options << ": " << said;
  }
}

}  // namespace
}  // namespace ingot
