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

#include "tests/support/temporary_folder.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

const TemporaryFolder kTemporary;
const fs::path kFolder = kTemporary.path();
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
    done(fmt::format("{} --install {} --prefix {}", INGOT_CMAKE, INGOT_BUILD_DIR, kPrefix.string()));
  }

  // A project of one CMakeLists.txt with `lines` behind find_package(ingot), configured.
  static Outcome project(const std::string& name, const std::string& lines, const std::string& more = "") {
    fs::create_directories(kFolder / name);
    std::ofstream(kFolder / name / "CMakeLists.txt") << fmt::format(
        "cmake_minimum_required(VERSION 3.25)\nproject({} LANGUAGES C CXX)\nfind_package(ingot 0.1 REQUIRED)\n{}\n",
        name, lines);
    return shell(configure(kFolder / name, name + ".build", more));
  }
};

TEST_F(InstalledPackage, TrainsInFiveKindsOfPrograms) {
  done(configure(kEmbed, "embed"));
  done(fmt::format("{} --build {}", INGOT_CMAKE, (kFolder / "embed").string()));
  const auto run = [](const std::string& line) {
    return done(fmt::format("cd {} && {}", (kFolder / "embed").string(), line));
  };
  EXPECT_TRUE(std::regex_search(run("./train line.ingot"), std::regex("loss [0-9.e-]+: y = 2\\.9\\d* x \\+ 1")));
  EXPECT_TRUE(run("./train_c line.ingot").starts_with("loss "));
  EXPECT_TRUE(run("./train_static").starts_with("loss "));
  EXPECT_NE(run("readelf -d train_static").find("no dynamic section"), std::string::npos);
  EXPECT_TRUE(run("./train_curve curve.ingot").starts_with("loss "));
  EXPECT_NE(run((kPrefix / "bin/ingot").string() + " inspect curve.ingot").find("strict: every"), std::string::npos);
  EXPECT_TRUE(std::regex_match(run("./train_lazy"), std::regex("loss [0-9.e-]+\n1000 steps, 2 compilations\n")));
  EXPECT_TRUE(fs::exists(kFolder / "embed/line.safetensors"));
}

TEST_F(InstalledPackage, TheToolBringsItsDocuments) {
  for (const char* path : {"man/man1/ingot.1", "bash-completion/completions/ingot",
                           "fish/vendor_completions.d/ingot.fish", "zsh/site-functions/_ingot"}) {
    EXPECT_TRUE(fs::exists(kPrefix / "share" / path)) << path;
  }
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
                           "-x c -std=c99 -include ingot/signature.h", "-x c++ -std=c++20 -include ingot/engine.hpp",
                           "-x c++ -std=c++20 -include ingot/sized.hpp"}) {
    done(fmt::format("{} {} -Wall -Wextra -Werror -pedantic -fsyntax-only -I{}/include /dev/null",
                     std::string_view(line).starts_with("-x c -") ? INGOT_C_COMPILER : INGOT_CXX_COMPILER, line,
                     kPrefix.string()));
  }
  const Outcome old =
      shell(fmt::format("{} -x c++ -std=c++17 -include ingot/engine.hpp -fsyntax-only -I{}/include /dev/null",
                        INGOT_CXX_COMPILER, kPrefix.string()));
  EXPECT_NE(old.output.find("needs C++20"), std::string::npos) << old.output;
  std::set<std::string> headers;
  for (const auto& file : fs::recursive_directory_iterator(kPrefix / "include/ingot")) {
    if (file.is_regular_file()) headers.insert(fs::relative(file.path(), kPrefix / "include").string());
  }
  EXPECT_EQ(headers, (std::set<std::string>{"ingot/clock.h", "ingot/engine.h", "ingot/engine.hpp", "ingot/sized.hpp",
                                            "ingot/schema/dtype.h", "ingot/schema/signature.h", "ingot/signature.h",
                                            "ingot/status.h"}));
}

TEST_F(InstalledPackage, AProgramOpensWhatAKeySignedAlone) {
  fs::create_directories(kFolder / "sealed");
  fs::copy(kEmbed / "line.mlir", kFolder / "sealed/line.mlir");
  std::ofstream(kFolder / "sealed/sealed.c") << R"(#include <ingot/signature.h>
#include <stdio.h>
int main(int count, char** arguments) {
  char text[1000];
  FILE* file = count == 3 ? fopen(arguments[2], "rb") : NULL;
  if (!file) return 2;
  const size_t bytes = fread(text, 1, sizeof text, file);
  ingot_error error = {0};
  ingot_public_key key;
  if (ingot_parse_public_key(text, bytes, &key, &error) != INGOT_OK) return 3;
  ingot_trusted_keys trusted = {&key, 1};
  ingot_open_options options = {.bundle_check = ingot_check_signature, .bundle_check_user = &trusted};
  ingot_requirements needs;
  const ingot_status status = ingot_probe_file_with(arguments[1], &options, &needs, &error);
  printf("%s\n", status == INGOT_OK ? "trusted" : error.text);
  return status == INGOT_OK ? 0 : 1;
}
)";
  const Outcome configured = project("sealed", R"(
ingot_add_bundle(line SOURCE train_step=line.mlir STATE zeros)
add_executable(sealed sealed.c)
target_link_libraries(sealed PRIVATE line ingot::signature)
set_target_properties(sealed PROPERTIES LINKER_LANGUAGE C))");
  EXPECT_EQ(configured.exit_code, 0) << configured.output;
  done(fmt::format("{} --build {}", INGOT_CMAKE, (kFolder / "sealed.build").string()));
  const std::string here = fmt::format("cd {} && ", (kFolder / "sealed.build").string());
  const std::string ingot = kPrefix / "bin/ingot";
  done(here + ingot + " keygen release");
  EXPECT_EQ(shell(here + "./sealed line.ingot release.pub").exit_code, 1);  // not signed yet
  done(here + ingot + " sign line.ingot --key release.key");
  EXPECT_EQ(done(here + "./sealed line.ingot release.pub"), "trusted\n");
}

TEST_F(InstalledPackage, SaysWhatASourceMayBe) {
  const Outcome model = project("model", "ingot_add_bundle(net SOURCE model.cpp)", "-DCMAKE_SYSTEM_NAME=Linux");
  EXPECT_NE(model.exit_code, 0);
  EXPECT_NE(model.output.find("build for this machine"), std::string::npos) << model.output;
  const Outcome state = project("state", "ingot_add_bundle(net SOURCE model.cpp STATE zeros)");
  EXPECT_NE(state.exit_code, 0);
  EXPECT_NE(state.output.find("STATE, SHAPES, MATH,"), std::string::npos) << state.output;
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

// Names are the program's: whatever they are, the header is one of C and of C++, and finds its tensors.
TEST_F(InstalledPackage, AnyNamesMakeAHeader) {
  const fs::path folder = kFolder / "names";
  fs::create_directories(folder);
  std::string arguments;
  int count = 0;
  for (const char* name : {"class", "batch.x", "batch_x", "a b", "\\22quote\\5C", "\xC3\xBC", "x", "x_bytes", "run",
                           "X", "9", "entry_", "*/", "\?\?/"}) {
    arguments += fmt::format("{}%a{}: tensor<2x3xbf16> {{ingot.name = \"{}\"}}", count ? ", " : "", count, name);
    ++count;
  }
  std::ofstream(folder / "float.mlir") << fmt::format(
      "func.func @main({}) -> (tensor<2x3xbf16> {{ingot.name = \"x\"}}) {{\n  return %a0 : tensor<2x3xbf16>\n}}\n",
      arguments);
  const std::string ingot = (kPrefix / "bin/ingot").string(), here = fmt::format("cd {} && ", folder.string());
  done(here + ingot + " compile float.mlir -o float.ingot");
  done(here + ingot + " header float.ingot -o float.h --embed float.bundle.c");
  for (const char* flags : {"-x c -std=c99", "-x c++ -std=c++20"}) {
    done(here +
         fmt::format("{} {} -Wall -Wextra -Werror -Wundef -include ./float.h -fsyntax-only -I{}/include /dev/null",
                     INGOT_CXX_COMPILER, flags, kPrefix.string()));
  }
  std::ofstream(folder / "main.cpp")
      << "#include \"float.h\"\nint main() {\n  ingot::engine::Bundle bundle(float_::bytes());\n"
         "  ingot::engine::Session session(bundle);\n  float_::Float step(session);\n"
         "  step.class_()[5] = 7;\n  step.run();\n  return step.x_2()[5] == 7 ? 0 : 1;\n}\n";
  done(here + fmt::format("{} -c float.bundle.c -o bundle.o", INGOT_C_COMPILER));
  done(here +
       fmt::format("{0} -std=c++20 main.cpp bundle.o -I{1}/include -L{1}/lib -Wl,-rpath,{1}/lib -lingot_engine -o main",
                   INGOT_CXX_COMPILER, kPrefix.string()));
  done(here + "./main");
}

// ingot's source tree as part of a project: the compiler is built when a bundle needs it, the demo never is.
TEST_F(InstalledPackage, TheSourceTreeIsPartOfAProject) {
  const fs::path folder = kFolder / "part";
  fs::create_directories(folder);
  std::ofstream(folder / "CMakeLists.txt") << fmt::format(
      "cmake_minimum_required(VERSION 3.25)\nproject(part LANGUAGES C CXX)\nadd_subdirectory({} ingot)\n"
      "ingot_add_bundle(text SOURCE {})\nadd_executable(app {})\n"
      "target_link_libraries(app PRIVATE text ingot::engine)\n",
      INGOT_SOURCE_DIR, (kEmbed / "line.mlir").string(), (kEmbed / "line.c").string());
  done(configure(folder, "part.build"));
  const std::string all = done(fmt::format("ninja -C {} -t commands all", (kFolder / "part.build").string()));
  EXPECT_NE(all.find("ingot/apps/ingot/ingot compile "), std::string::npos);
  EXPECT_NE(all.find("-o ingot/apps/ingot/ingot "), std::string::npos);
  EXPECT_EQ(all.find("fashion"), std::string::npos);
}

TEST_F(InstalledPackage, PkgConfigFindsTheEngine) {
  if (shell("command -v pkg-config").exit_code != 0) GTEST_SKIP() << "there is no pkg-config command";
  done(fmt::format(
      "{} $(PKG_CONFIG_PATH={}/lib/pkgconfig pkg-config --static --cflags --libs ingot-engine) {} "
      "-Wl,-rpath,{}/lib -o {}/by_pkg_config",
      INGOT_C_COMPILER, kPrefix.string(), (kEmbed / "line.c").string(), kPrefix.string(), kFolder.string()));
}

// Nothing but the compiler's and the processor's own libraries are looked for in the other machine's folder.
TEST_F(InstalledPackage, TheEngineIsConfiguredForOtherProcessors) {
  const fs::path empty = kFolder / "sysroot";
  fs::create_directories(empty);
  done(fmt::format(
      "{} -S {} -B {} -G Ninja -DCMAKE_C_COMPILER={} -DCMAKE_CXX_COMPILER={} -DCMAKE_SYSTEM_NAME=Linux "
      "-DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_FIND_ROOT_PATH={} -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY "
      "-DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY -DINGOT_COMPILER=OFF "
      "-DINGOT_TESTS=OFF -DZLIB_LIBRARY=z -DZLIB_INCLUDE_DIR={}",
      INGOT_CMAKE, INGOT_SOURCE_DIR, (kFolder / "cross").string(), INGOT_C_COMPILER, INGOT_CXX_COMPILER, empty.string(),
      empty.string()));
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
