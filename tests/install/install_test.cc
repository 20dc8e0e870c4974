// What `cmake --install` leaves: examples/embed is built against it as anyone's project would be, and trains.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace ingot {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(testing::TempDir()) / "install_test";
const fs::path kPrefix = kFolder / "prefix";
const fs::path kEmbed = fs::path(INGOT_SOURCE_DIR) / "examples/embed";

struct Outcome {
  int exit_code;
  std::string output;  // and errors
};

Outcome shell(const std::string& command) {
  const fs::path log = kFolder / "log";
  const int status = std::system(fmt::format("({}) >{} 2>&1", command, log.string()).c_str());
  std::ifstream in(log);
  std::stringstream text;
  text << in.rdbuf();
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text.str()};
}

std::string done(const std::string& command) {
  const Outcome outcome = shell(command);
  EXPECT_EQ(outcome.exit_code, 0) << command << "\n" << outcome.output;
  return outcome.output;
}

// The command that configures a project against the installation.
std::string configure(const fs::path& source, const std::string& build, const std::string& more = "") {
  return fmt::format("{} -S {} -B {} -G Ninja -DCMAKE_PREFIX_PATH={} -DCMAKE_C_COMPILER={} -DCMAKE_CXX_COMPILER={} {}",
                     INGOT_CMAKE, source.string(), (kFolder / build).string(), kPrefix.string(), INGOT_C_COMPILER,
                     INGOT_CXX_COMPILER, more);
}

class InstalledPackage : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    fs::remove_all(kFolder);
    fs::create_directories(kFolder);
    done(fmt::format("{} --install {} --prefix {}", INGOT_CMAKE, INGOT_BUILD_DIR, kPrefix.string()));
  }
  static void TearDownTestSuite() { fs::remove_all(kFolder); }

  // A project of one CMakeLists.txt with `lines` behind find_package(ingot), configured.
  static Outcome project(const std::string& name, const std::string& lines, const std::string& more = "") {
    fs::create_directories(kFolder / name);
    std::ofstream(kFolder / name / "CMakeLists.txt") << fmt::format(
        "cmake_minimum_required(VERSION 3.25)\nproject({} LANGUAGES C CXX)\nfind_package(ingot 0.1 REQUIRED)\n{}\n",
        name, lines);
    return shell(configure(kFolder / name, name + ".build", more));
  }
};

TEST_F(InstalledPackage, TrainsInThreeKindsOfPrograms) {
  done(configure(kEmbed, "embed"));
  done(fmt::format("{} --build {}", INGOT_CMAKE, (kFolder / "embed").string()));
  const auto run = [](const std::string& line) {
    return done(fmt::format("cd {} && {}", (kFolder / "embed").string(), line));
  };
  EXPECT_TRUE(std::regex_search(run("./train line.ingot"), std::regex("loss [0-9.e-]+: y = 2\\.9\\d* x \\+ 1")));
  EXPECT_TRUE(run("./train_c line.ingot").starts_with("loss "));
  EXPECT_TRUE(run("./train_static").starts_with("loss "));
  EXPECT_NE(run("readelf -d train_static").find("no dynamic section"), std::string::npos);
  EXPECT_TRUE(fs::exists(kFolder / "embed/line.safetensors"));
}

TEST_F(InstalledPackage, ExportsTheCApiAlone) {
  std::set<std::string> declared;
  for (const char* header : {"engine.h", "status.h"}) {
    std::ifstream in(kPrefix / "include/ingot" / header);
    std::stringstream text;
    text << in.rdbuf();
    const std::string all = std::regex_replace(text.str(), std::regex(R"(/\*[^]*?\*/|typedef[^;{]*;)"), "");
    static const std::regex kFunction(R"(\n[a-z0-9_ *]+?[ *](ingot_[a-z_]+)\()");
    for (std::sregex_iterator at(all.begin(), all.end(), kFunction), end; at != end; ++at) declared.insert((*at)[1]);
  }
  EXPECT_GT(declared.size(), 30u);
  std::istringstream symbols(done(
      fmt::format("nm -D --defined-only {}/lib*/libingot_engine.so {}/lib*/*/libingot_engine.so 2>/dev/null || true",
                  kPrefix.string(), kPrefix.string())));
  std::set<std::string> exported;
  for (std::string line; std::getline(symbols, line);) {
    const size_t begin = line.find(" T ");
    if (begin != line.npos) exported.insert(line.substr(begin + 3));
  }
  std::set<std::string> expected;
  for (const std::string& name : declared) expected.insert(name + "@@INGOT_1");
  EXPECT_EQ(exported, expected);
}

TEST_F(InstalledPackage, HeadersStandAlone) {
  for (const char* line : {"-x c -std=c99 -include ingot/engine.h", "-x c++ -std=c++11 -include ingot/engine.h",
                           "-x c++ -std=c++20 -include ingot/engine.hpp"}) {
    done(fmt::format("{} {} -Wall -Wextra -Werror -pedantic -fsyntax-only -I{}/include /dev/null",
                     std::string_view(line).starts_with("-x c -") ? INGOT_C_COMPILER : INGOT_CXX_COMPILER, line,
                     kPrefix.string()));
  }
  const Outcome old =
      shell(fmt::format("{} -x c++ -std=c++17 -include ingot/engine.hpp -fsyntax-only -I{}/include /dev/null",
                        INGOT_CXX_COMPILER, kPrefix.string()));
  EXPECT_NE(old.output.find("needs C++20"), std::string::npos) << old.output;
  std::set<std::string> headers;
  for (const auto& file : fs::recursive_directory_iterator(kPrefix / "include")) {
    if (file.is_regular_file()) headers.insert(fs::relative(file.path(), kPrefix / "include").string());
  }
  EXPECT_EQ(headers,
            (std::set<std::string>{"ingot/engine.h", "ingot/engine.hpp", "ingot/schema/dtype.h", "ingot/status.h"}));
}

TEST_F(InstalledPackage, SaysWhatASourceMayBe) {
  const Outcome model = project("model", "ingot_add_bundle(net SOURCE model.cpp)");
  EXPECT_NE(model.exit_code, 0);
  EXPECT_NE(model.output.find("by add_subdirectory"), std::string::npos) << model.output;
  const Outcome none = project("none", "ingot_add_bundle(net TARGET x86-64-v3)");
  EXPECT_NE(none.exit_code, 0);
  EXPECT_NE(none.output.find("and what it is"), std::string::npos) << none.output;
}

TEST_F(InstalledPackage, AProjectInCAloneNeedsNoCpp) {
  fs::create_directories(kFolder / "c");
  fs::copy(kEmbed / "line.c", kFolder / "c/line.c");
  std::ofstream(kFolder / "c/CMakeLists.txt") << "cmake_minimum_required(VERSION 3.25)\nproject(c LANGUAGES C)\n"
                                                 "find_package(ingot REQUIRED)\nadd_executable(line line.c)\n"
                                                 "target_link_libraries(line PRIVATE ingot::engine_static)\n";
  done(configure(kFolder / "c", "c.build"));
  done(fmt::format("{} --build {}", INGOT_CMAKE, (kFolder / "c.build").string()));
}

TEST_F(InstalledPackage, FoldersAndScriptsBecomeBundles) {
  fs::create_directories(kFolder / "kinds/net");
  fs::copy(kEmbed / "line.mlir", kFolder / "kinds/net/train_step.mlir", fs::copy_options::overwrite_existing);
  std::ofstream(kFolder / "kinds/trace.py") << fmt::format(
      "import pathlib, shutil, sys\nfolder = pathlib.Path(sys.argv[1])\nfolder.mkdir(parents=True)\n"
      "shutil.copy('{}', folder / 'train_step.mlir')\n",
      (kEmbed / "line.mlir").string());
  const Outcome outcome = project("kinds",
                                  "ingot_add_bundle(folder SOURCE net STATE zeros TARGETS x86-64-v3 aarch64)\n"
                                  "ingot_add_bundle(script SOURCE trace.py STATE zeros HEADER include/script.h)\n");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const fs::path build = kFolder / "kinds.build";
  done(fmt::format("{} --build {}", INGOT_CMAKE, build.string()));
  EXPECT_TRUE(fs::exists(build / "script.ingot"));
  EXPECT_TRUE(fs::exists(build / "include/script.h"));
  EXPECT_NE(
      done(fmt::format("{}/bin/ingot inspect {}", kPrefix.string(), (build / "folder.ingot").string())).find("aarch64"),
      std::string::npos);
  EXPECT_NE(done(fmt::format("{} --build {}", INGOT_CMAKE, build.string())).find("no work to do"), std::string::npos);
}

// A project for another processor has its own engine, and the compiler of this machine.
TEST_F(InstalledPackage, CrossBuildsUseTheCompilerOfThisMachine) {
  const std::string lines = "get_target_property(path ingot::compiler LOCATION)\nmessage(STATUS \"compiler: ${path}\")";
  const std::string cross = "-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64";
  const fs::path elsewhere = kFolder / "tools";
  fs::create_directories(elsewhere);
  fs::copy(kPrefix / "bin/ingot", elsewhere / "ingot", fs::copy_options::overwrite_existing);
  const Outcome found =
      project("cross", lines, fmt::format("{} -DINGOT_EXECUTABLE={}/ingot", cross, elsewhere.string()));
  EXPECT_NE(found.output.find(fmt::format("compiler: {}/ingot", elsewhere.string())), std::string::npos)
      << found.output;
}

}  // namespace
}  // namespace ingot
