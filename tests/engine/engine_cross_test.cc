// The engine itself on another processor: built by Debian's cross compiler for aarch64, and run by an emulator.
#include "tests/support/cross_build.h"

namespace ingot {
namespace {

TEST(EngineCross, TrainsOnAarch64) {
  const CrossBuild cross("aarch64");
  if (const std::string missing = cross.missing(); !missing.empty()) {
    GTEST_SKIP() << "missing Debian packages:" << missing;
  }
  cross.build("ingot_engine");
  const std::string program = cross.path("engine_cross");
  const std::string linked = cross.done(
      fmt::format("{} -std=c++20 -O1 -static -I{}/engine/include -I{} {}/tests/engine/engine_cross.cc {} {} -o {}",
                  cross.compiler("g++"), INGOT_SOURCE_DIR, INGOT_SOURCE_DIR, INGOT_SOURCE_DIR,
                  cross.path("engine/libingot_engine.a"), cross.zlib(), program));
  ASSERT_FALSE(HasFailure()) << linked;
  const std::string compat = INGOT_SOURCE_DIR "/tests/engine/compat";
  for (const int threads : {1, 2, 3}) {
    EXPECT_EQ(cross.done(fmt::format("{} {} {}/two_layers_1.4.ingot {}/two_layers_1.0.safetensors {}", cross.emulator(),
                                     program, compat, compat, threads)),
              "3.27669811\n0.187173158\n0.133040115\n0.130949676\n0.129229084\ntarget aarch64, state equal\n");
  }
}

}  // namespace
}  // namespace ingot
