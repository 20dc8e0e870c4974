// The engine, and programs that link nothing else of this project, built by Debian's cross compilers and run by QEMU.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/file_text.h"
#include "tests/support/temporary_folder.h"

namespace ingot {

class CrossBuild {
 public:
  explicit CrossBuild(std::string isa) : isa_(std::move(isa)) {}

  // What this machine lacks for it, as Debian's packages; "" if nothing.
  std::string missing() const {
    std::string missing;
    if (!has_command(compiler("gcc"))) missing += fmt::format(" gcc-{}-linux-gnu", isa_);
    if (!has_command(compiler("g++"))) missing += fmt::format(" g++-{}-linux-gnu", isa_);
    if (!has_command("qemu-" + isa_)) missing += " qemu-user";
    if (zlib().empty())
      missing += isa_ == "aarch64" ? " zlib1g-dev:arm64" : " zlib (cmake/toolchains/riscv64_libraries)";
    return missing;
  }

  // Builds a target of the project. Flags in the environment are for another compiler.
  void build(const std::string& target) const {
    const std::string configured = done(fmt::format(
        "{} -S {} -B {} -G Ninja --toolchain {}/cmake/toolchains/{}-linux-gnu.cmake -DCMAKE_C_FLAGS= "
        "-DCMAKE_CXX_FLAGS= -DCMAKE_BUILD_TYPE=Release -DINGOT_WERROR=ON -DINGOT_COMPILER=OFF -DINGOT_TESTS=OFF "
        "-DINGOT_INSTALL=OFF -DCMAKE_EXE_LINKER_FLAGS=-static-libstdc++ -DZLIB_LIBRARY={}",
        INGOT_CMAKE, INGOT_SOURCE_DIR, path(""), INGOT_SOURCE_DIR, isa_, zlib()));
    const std::string built = done(fmt::format("{} --build {} --target {}", INGOT_CMAKE, path(""), target));
    if (testing::Test::HasFailure()) ADD_FAILURE() << configured << built;
  }

  // A file of the build.
  std::string path(const std::string& name) const { return folder_.file("build/" + name); }
  std::string compiler(const std::string& name) const { return fmt::format("{}-linux-gnu-{}", isa_, name); }
  // What runs a program of it. Debian has libraries for arm64 as packages, those for riscv64 come with the compiler.
  std::string emulator() const {
    return fmt::format("qemu-{}{}", isa_, isa_ == "riscv64" ? " -L /usr/riscv64-linux-gnu" : "");
  }

  // Where a static zlib for the processor lies; "" if there is none.
  std::string zlib() const {
    for (const char* place : {"/usr/lib/{}-linux-gnu/libz.a", "/usr/{}-linux-gnu/lib/libz.a"}) {
      const std::string file = fmt::format(fmt::runtime(place), isa_);
      if (std::filesystem::exists(file)) return file;
    }
    return "";
  }

  // What a command prints; it has to succeed.
  std::string done(const std::string& command) const {
    const std::string log = folder_.file("log");
    EXPECT_EQ(std::system(fmt::format("({}) >{} 2>&1", command, log).c_str()), 0) << command;
    return file_text(log);
  }

 private:
  static bool has_command(const std::string& name) {
    return std::system(fmt::format("command -v {} >/dev/null", name).c_str()) == 0;
  }

  std::string isa_;
  TemporaryFolder folder_;
};

}  // namespace ingot
