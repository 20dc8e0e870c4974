// What the ingot tool says of mistakes, the user's and its own.
#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "aot/base/error.h"
#include "aot/graph/text/parse.h"
#include "aot/ops/support/build.h"
#include "apps/ingot/command_line/reproducer.h"
#include "tests/tool/cli_fixture.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

using CliMistakesTest = CliTest;

TEST_F(CliMistakesTest, MistakesAreExplainedAndLeaveNothing) {
  compile_both();
  write("wrong_op.mlir",
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
        "  %y = stablehlo.tahn %x : tensor<f32>\n  return %y : tensor<f32>\n}\n");
  write("cut.ingot", read_text(path("net.ingot")).substr(0, 1000));
  fs::create_directory(path("empty"));
  const struct {
    std::string arguments;
    int exit_code;
    std::string says;
  } mistakes[] = {
      {"", kUsageError, "a command is missing"},
      {"comple step.mlir", kUsageError, "did you mean 'compile'?"},
      {"compile step.mlir", kUsageError, "--output is required"},
      {"compile step.mlir -o x.ingot --targets host", kUsageError, "did you mean '--target'?"},
      {"run net.ingot predict x=1", kUsageError, "unexpected argument 'x=1'"},
      {"run net.ingot predict --threads many", kUsageError, "many"},
      {"compile nowhere.mlir -o x.ingot", kUserError, "cannot read nowhere.mlir"},
      {"compile empty -o x.ingot", kUserError, "empty: has no program"},
      {"compile step.mlir -o x.ingot --state data.safetensors", kUserError, "has no tensor for the state w: F32[4]"},
      {"compile wrong_op.mlir -o x.ingot", kUserError,
       "wrong_op.mlir:2:8: error: unknown op stablehlo.tahn; did you mean stablehlo.tanh?"},
      {"compile step.mlir -o x.ingot --target x87", kUserError, "unknown target 'x87'; there are: host"},
      {"compile step.mlir -o nowhere/x.ingot", kUserError, "cannot write nowhere/x.ingot"},
      {"compile step.mlir step.mlir -o x.ingot", kUserError, "two entry points are named 'step'"},
      {"inspect nowhere.ingot", kUserError, "cannot read nowhere.ingot"},
      {"inspect cut.ingot", kUserError, "cut.ingot"},
      {"inspect step.mlir", kUserError, "step.mlir: is a program; make a bundle"},
      {"inspect net.ingot --memory-svg m.svg --entry perdict", kUserError, "did you mean 'predict'?"},
      {"inspect net.ingot --memory-svg nowhere/m.svg", kUserError, "cannot write nowhere/m.svg"},
      {"run cut.ingot", kUserError, "cut.ingot: the bundle has 1000 bytes of"},
      {"run net.ingot perdict", kUserError, "did you mean 'predict'?"},
      {"run net.ingot predict --state first.safetensors", kUserError, "input x: f32[8,4] is missing"},
      {"run net.ingot train_step --state first.safetensors --input batch.z=1", kUserError, "did you mean 'batch.x'?"},
      {"run net.ingot predict --input x=@data.safetensors:narrow", kUserError,
       "is F32[8,2], but the input is x: f32[8,4]"},
      {"run net.ingot predict --input x=@data.safetensors:y", kUserError, "has no tensor 'y'"},
      {"run net.ingot predict --input x=1 --state zeros --save-outputs step.mlir/out", kUserError, "step.mlir/out"},
      {"train net.ingot --data nowhere.safetensors --set lr=1", kUserError, "cannot read nowhere.safetensors"},
      {"train net.ingot --data data.safetensors", kUserError, "has no tensor for the input lr"},
      {"train net.ingot --data data.safetensors --set lr=fast", kUserError, "'fast' is neither"},
      {"train net.ingot --data data.safetensors --set lr=1 --save nowhere/s", kUserError, "cannot write nowhere/s"},
      {"bench step.mlir", kUserError, "step.mlir: is a program; make a bundle"},
      {"run net.ingot predict --threads 0", kUsageError, "0 is not above zero"},
      {"--verbose compile step.mlir", kUsageError, "there is no option --verbose before a command"},
      {"train net.ingot --data data.safetensors --plot x.png", kUsageError, "it ends in .svg"},
      {"inspect net.ingot --memory-svg m.png", kUsageError, "it ends in .svg"},
      {"help comple", kUserError, "did you mean 'compile'?"},
      {"completion tcsh", kUsageError, "tcsh"},
      {"bench net.ingot --roofline-svg nowhere/r.svg", kUserError, "cannot write nowhere/r.svg"},
      {"check nowhere.mlir", kUserError, "cannot read nowhere.mlir"},
      {"compile step.mlir -o x.ingot --print-after lowr", kUserError, "optimized.llvm, asm"},
      {"opt step.mlir --print-after lower", kUserError, "there is no pass 'lower'"},
      {"opt step.mlir --passes=fues", kUserError, "there is no pass 'fues'"},
      {"opt step.mlir -o nowhere/x.mlir", kUserError, "cannot write nowhere/x.mlir"},
  };
  const std::set<std::string> before = files();
  for (const auto& mistake : mistakes) {
    const Outcome outcome = ingot(mistake.arguments);
    EXPECT_EQ(outcome.exit_code, mistake.exit_code) << mistake.arguments;
    EXPECT_NE(outcome.errors.find(mistake.says), std::string::npos) << mistake.arguments << "\n" << outcome.errors;
    EXPECT_EQ(files(), before) << mistake.arguments;
  }
}

TEST_F(CliMistakesTest, NamesAreNoPathsAndNoEscapeSequences) {
  const auto program = [](const std::string& state, const std::string& name) {
    return "func.func @main(%a: tensor<4xf32> {ingot.state = \"" + state + "\"}) -> (tensor<4xf32> {ingot.name = \"" +
           name + "\"}) {\n  return %a : tensor<4xf32>\n}\n";
  };
  write("paths.mlir", program("mlp/~/w", "../escape"));
  write("absolute.mlir", program("mlp/~/w", path("absolute")));
  done("compile paths.mlir absolute.mlir -o paths.ingot --state zeros");
  const std::set<std::string> before = files();
  done("run paths.ingot paths --save-outputs out");
  done("run paths.ingot absolute --save-outputs out");
  std::set<std::string> wanted = before;
  wanted.insert("out");
  EXPECT_EQ(files(), wanted);
  EXPECT_TRUE(fs::exists(path("out/%2E.%2Fescape.npy")));

  const std::string names[][2] = {{"\\1B[31m", "x"}, {"w", "\\1B[31m"}, {"p\\FF", "x"}, {"__metadata__", "x"}};
  for (const auto& [state, name] : names) {
    write("bad.mlir", program(state, name));
    const std::string says = refused("compile bad.mlir -o bad.ingot");
    EXPECT_NE(says.find("another"), says.npos) << says;
    EXPECT_EQ(says.find('\x1b'), says.npos) << says;
  }
  write("raw.mlir", "func.func @main() { \x1b[31m");
  EXPECT_EQ(refused("compile raw.mlir -o bad.ingot").find('\x1b'), std::string::npos);
}

TEST_F(CliMistakesTest, LimitsAreStated) {
  std::string doubling;  // each function calls the next twice
  for (int i = 0; i < 30; ++i) {
    const std::string type = ") : (tensor<f32>) -> tensor<f32>\n";
    doubling += fmt::format(
        "func.func {}@f{}(%x: tensor<f32>) -> tensor<f32> {{\n  %0 = func.call @f{}(%x{}  %1 = "
        "func.call @f{}(%0{}  return %1 : tensor<f32>\n}}\n",
        i == 0 ? "" : "private ", i, i + 1, type, i + 1, type);
  }
  write("doubling.mlir", doubling +
                             "func.func private @f30(%x: tensor<f32>) -> tensor<f32> {\n  %0 = stablehlo.tanh %x : "
                             "tensor<f32>\n  return %0 : tensor<f32>\n}\n");
  EXPECT_NE(refused("compile doubling.mlir -o x.ingot").find("more than 500000 ops"), std::string::npos);

  std::string inputs;
  for (int i = 0; i < 4097; ++i) inputs += fmt::format("{}%x{}: tensor<f32>", i > 0 ? ", " : "", i);
  write("wide.mlir", fmt::format("func.func @main({}) -> tensor<f32> {{\n  return %x0 : tensor<f32>\n}}\n", inputs));
  EXPECT_NE(refused("compile wide.mlir -o x.ingot").find("4097 inputs are more than the 4096"), std::string::npos);
}

TEST_F(CliMistakesTest, FailedCompilationKeepsTheOldBundle) {
  compile_both();
  const std::string before = read_text(path("net.ingot"));
  EXPECT_EQ(ingot("compile check.mlir -o net.ingot --target x87").exit_code, kUserError);
  EXPECT_EQ(read_text(path("net.ingot")), before);
}

// In a folder of its own, as the tool would run there.
class BugTest : public CliTest {
 protected:
  BugTest() { fs::current_path(folder_.path()); }
  ~BugTest() override { fs::current_path(old_); }

 private:
  const fs::path old_ = fs::current_path();
};

TEST_F(BugTest, EndsWithAReproducer) {
  std::string program;
  const Command commands[] = {{.name = "break",
                               .help = "",
                               .examples = "",
                               .options = {{"program", &program, "", {.names = Names::kProgram}}},
                               .run = [] { throw_bug("it broke"); }}};
  const char* const arguments[] = {"ingot", "break", "train_step=step.mlir"};
  for (const std::string folder : {"ingot-reproducer-train_step", "ingot-reproducer-train_step-2"}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_command_line(commands, 3, arguments), kInternalError);
    EXPECT_NE(testing::internal::GetCapturedStderr().find(folder + ":"), std::string::npos);
    EXPECT_EQ(read_text(folder + "/train_step.mlir"), kTrainStep);
    const std::string report = read_text(folder + "/report.txt");
    for (const char* part : {"it broke", "ingot break train_step=step.mlir"}) {
      EXPECT_NE(report.find(part), report.npos) << report;
    }
  }
}

TEST_F(BugTest, ReproducerHasTheProgramBeforeThePassThatFails) {
  const PassRow passes[] = {
      pass_named("canonicalize", "test"),
      {"explode", [](Module&, PassContext&) -> bool { throw_bug("exploded"); }, nullptr, ""},
  };
  const std::string folder = write_reproducer({{"ingot", "compile"}, "exploded", {"step.mlir"}}, passes);
  const std::string before = read_text(folder + "/before-explode.mlir");
  EXPECT_NE(parse_module(before, "before", all_ops())->find("step"), nullptr);
  EXPECT_NE(read_text(folder + "/report.txt").find("ingot opt before-explode.mlir --passes=explode"),
            std::string::npos);
  EXPECT_EQ(ingot("opt " + folder + "/before-explode.mlir --passes=canonicalize").output, before);
}

}  // namespace
}  // namespace ingot
