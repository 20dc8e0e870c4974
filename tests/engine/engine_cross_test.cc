// The engine itself on another processor: built by Debian's cross compiler for aarch64, and run by an emulator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/file_text.h"
#include "tests/support/temporary_folder.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

// What the test takes of a Debian system beside this one's compiler.
constexpr const char* kCCompiler = "aarch64-linux-gnu-gcc";
constexpr const char* kCxxCompiler = "aarch64-linux-gnu-g++";
constexpr const char* kZlib = "/usr/lib/aarch64-linux-gnu/libz.a";

bool has_command(const std::string& name) {
  return std::system(fmt::format("command -v {} >/dev/null", name).c_str()) == 0;
}

// The packages that are missing; "" if none is.
std::string missing_packages() {
  std::string missing;
  if (!has_command(kCCompiler)) missing += " gcc-aarch64-linux-gnu";
  if (!has_command(kCxxCompiler)) missing += " g++-aarch64-linux-gnu";
  if (!fs::exists(kZlib)) missing += " zlib1g-dev:arm64";
  if (std::string(INGOT_QEMU_AARCH64).empty()) missing += " qemu-user";
  return missing;
}

class EngineCross : public testing::Test {
 protected:
  // What a command prints; it has to succeed.
  std::string done(const std::string& command) const {
    const std::string log = folder_.file("log");
    EXPECT_EQ(std::system(fmt::format("({}) >{} 2>&1", command, log).c_str()), 0) << command;
    return file_text(log);
  }

  // Flags in the environment are for another compiler.
  void build_program() const {
    const std::string build = folder_.file("build");
    const std::string configured = done(fmt::format(
        "{} -S {} -B {} -G Ninja --toolchain {}/cmake/toolchains/aarch64-linux-gnu.cmake -DCMAKE_C_FLAGS= "
        "-DCMAKE_CXX_FLAGS= -DCMAKE_BUILD_TYPE=Release -DINGOT_WERROR=ON -DINGOT_COMPILER=OFF -DINGOT_TESTS=OFF "
        "-DINGOT_INSTALL=OFF -DZLIB_LIBRARY={}",
        INGOT_CMAKE, INGOT_SOURCE_DIR, build, INGOT_SOURCE_DIR, kZlib));
    const std::string built = done(fmt::format("{} --build {} --target ingot_engine", INGOT_CMAKE, build));
    const std::string linked =
        done(fmt::format("{} -std=c++20 -O1 -static -I{}/engine/include -I{} {}/tests/engine/engine_cross.cc "
                         "{}/engine/libingot_engine.a "
                         "{} -o {}",
                         kCxxCompiler, INGOT_SOURCE_DIR, INGOT_SOURCE_DIR, INGOT_SOURCE_DIR, build, kZlib, program()));
    if (HasFailure()) ADD_FAILURE() << configured << built << linked;
  }
  std::string program() const { return folder_.file("engine_cross"); }

  TemporaryFolder folder_;
};

TEST_F(EngineCross, TrainsOnAarch64) {
  if (const std::string missing = missing_packages(); !missing.empty()) {
    GTEST_SKIP() << "missing Debian packages:" << missing;
  }
  build_program();
  const std::string compat = INGOT_SOURCE_DIR "/tests/engine/compat";
  for (const int threads : {1, 2, 3}) {
    EXPECT_EQ(done(fmt::format("{} {} {}/two_layers_1.4.ingot {}/two_layers_1.0.safetensors {}", INGOT_QEMU_AARCH64,
                               program(), compat, compat, threads)),
              "3.27669811\n0.187173158\n0.133040115\n0.130949676\n0.129229084\ntarget aarch64, state equal\n");
  }
}

}  // namespace
}  // namespace ingot
