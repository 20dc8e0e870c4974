// An engine that was built without files, linked into a program of its own (engine_flash.c): it does to bundles in memory
// what the other does to files, and calls no system.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "tests/engine/engine_fixture.h"
#include "tests/support/file_text.h"

namespace ingot::test {
namespace {

using Bytes = std::vector<std::byte>;

class EngineFlash : public testing::Test {
 protected:
  std::string written(const std::string& name, const Bytes& bytes) const {
    const std::string path = folder_.file(name);
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return path;
  }

  // What the program prints, which trains the bundle of engine_fixture and is asked about these.
  std::string said(const std::string& others = "") const {
    const std::string bundle = written("fit.ingot", bundle::write_bundle(fit_spec()));
    const std::string line =
        INGOT_EMULATOR " " INGOT_FLASH_PROGRAM " " + bundle + " " + state_path() + others + " >" + folder_.file("said");
    EXPECT_EQ(std::system(line.c_str()), 0) << line;
    return file_text(folder_.file("said"));
  }

  std::string state_path() const { return folder_.file("state.safetensors"); }

  TemporaryFolder folder_;
};

TEST_F(EngineFlash, TrainsAndWritesTheStateThatTheEngineWithFilesDoes) {
  const std::string program = said();
  EXPECT_NE(program.find("built without INGOT_ENGINE_THREADS"), std::string::npos) << program;
  EXPECT_NE(program.find("step 9 loss "), std::string::npos) << program;
  EXPECT_NE(program.find("after ten\n"), std::string::npos) << program;

  OpenBundle bundle(bundle::write_bundle(fit_spec()));
  OpenSession open(bundle);
  FitPorts ports(open.session);
  *ports.seed.as<int32_t>() = 1;
  *ports.lr.as<float>() = 0.5f;
  for (int i = 0; i < 1024; ++i) {
    ports.x.as<float>()[i] = 1;
    ports.y.as<float>()[i] = static_cast<float>(i) / 1024;
  }
  ASSERT_EQ(ingot_run(open.session, kInit, nullptr), INGOT_OK);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(ingot_run(open.session, kTrainStep, nullptr), INGOT_OK);
  const std::string path = folder_.file("with_files.safetensors");
  ASSERT_EQ(ingot_save_state_noted(open.session, path.c_str(), "ten", nullptr), INGOT_OK);
  EXPECT_EQ(file_text(state_path()), file_text(path));
}

TEST_F(EngineFlash, TrainsInCpp) {
  const std::string bundle = written("fit.ingot", bundle::write_bundle(fit_spec()));
  const std::string line = INGOT_EMULATOR " " INGOT_FLASH_WRAPPER " " + bundle + " >" + folder_.file("cpp");
  ASSERT_EQ(std::system(line.c_str()), 0) << line;
  const std::string losses = file_text(folder_.file("cpp"));
  EXPECT_TRUE(losses.starts_with("step 0 loss ")) << losses;
  EXPECT_NE(said().find(losses), std::string::npos) << losses;
}

// What the engine with files says of a file.
std::string with_files(const std::string& path) {
  const OpenBundle bundle(path);
  return std::to_string(bundle.status) + " " + (bundle.status == INGOT_OK ? "" : bundle.error.text);
}

TEST_F(EngineFlash, SaysOfBadBundlesWhatTheEngineWithFilesSays) {
  const Bytes good = bundle::write_bundle(fit_spec());
  const ingot_bundle_header header = header_of(good);
  std::mt19937 random(1);
  std::string others, expected;
  std::set<std::string> kinds;
  for (int i = 0; i < 150; ++i) {
    Bytes bad = good;
    const bool lies = i % 3 != 0;  // else it is damaged
    const size_t at = lies ? header.metadata_offset + random() % header.metadata_bytes : random() % bad.size();
    bad[at] ^= static_cast<std::byte>(1 + random() % 255);
    if (lies) bad = resealed(bad);
    if (i % 10 == 9) bad.resize(1 + random() % bad.size());
    const std::string path = written(std::to_string(i), bad);
    const std::string why = with_files(path);
    others += " " + path;
    expected += why + "\n";
    kinds.insert(why);
  }
  EXPECT_GT(kinds.size(), 10u);
  const std::string program = said(others);
  EXPECT_EQ(program.substr(program.size() - std::min(program.size(), expected.size())), expected);
}

TEST_F(EngineFlash, RefusesWhatIsCompressed) {
  bundle::BundleSpec spec = fit_spec();
  for (bundle::State& state : spec.states) state.start = bundle::Start::kZero;
  spec.states[kWeight].start = bundle::Start::kSegment;
  spec.initial_state.resize(sizeof(float) * 1024);
  spec.compress_initial_state = true;
  const std::string path = written("compressed", bundle::write_bundle(spec));
  EXPECT_EQ(with_files(path), "0 ");
  EXPECT_NE(said(" " + path).find("9 the initial state is compressed, and this engine was built without zlib"),
            std::string::npos);
}

// Of a C library it takes what copies, compares and clears memory; and on Linux, what that tells of the processor.
TEST_F(EngineFlash, TakesNothingOfTheSystem) {
  const std::string listed = folder_.file("symbols");
  if (std::system(("nm -P -g " INGOT_ENGINE_WITHOUT_FILES " >" + listed + " 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "there is no nm command";
  }
  std::set<std::string> defined, taken;
  std::istringstream lines(file_text(listed));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, kind;
    if (!(words >> name >> kind) || name.ends_with(":")) continue;
    (kind == "U" ? taken : defined).insert(name);
  }
  const std::set<std::string> allowed = {"memcmp", "memcpy", "memmove", "memset",    "bcmp",
                                         "strcmp", "strlen", "strncmp", "getauxval", "_GLOBAL_OFFSET_TABLE_"};
  EXPECT_TRUE(defined.contains("ingot_run"));
  EXPECT_FALSE(defined.contains("ingot_open_file"));
  for (const std::string& name : taken) EXPECT_TRUE(defined.contains(name) || allowed.contains(name)) << name;
}

}  // namespace
}  // namespace ingot::test
