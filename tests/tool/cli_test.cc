// What each command of the ingot tool does, and what it says of mistakes.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "aot/base/error.h"
#include "aot/base/version.h"
#include "aot/graph/text/parse.h"
#include "aot/loops/target.h"
#include "aot/ops/support/build.h"
#include "apps/ingot/chart.h"
#include "apps/ingot/reproducer.h"
#include "apps/ingot/sources.h"
#include "tests/tool/cli_fixture.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

TEST_F(CliTest, EveryCommandExplainsItself) {
  const std::string all = done("--help");
  for (const std::string command : {"compile", "inspect", "run", "train", "bench", "check", "opt"}) {
    EXPECT_NE(all.find("\n  " + command), all.npos) << command;
    const std::string help = done(command + " --help");
    EXPECT_NE(help.find("examples:\n  ingot " + command), help.npos) << help;
  }
  EXPECT_EQ(done("--version").find("ingot "), 0u);
}

TEST_F(CliTest, TellsItsVersionAndHelps) {
  const std::string version = done("--version");
  for (const char* part : {kVersion, "LLVM 19.", "targets: host, x86-64-v3"}) {
    EXPECT_NE(version.find(part), std::string::npos) << version;
  }
  EXPECT_EQ(done("-v"), version);
  EXPECT_EQ(done("help"), done("--help"));
  EXPECT_EQ(done("help train"), done("train --help"));
}

TEST_F(CliTest, TrainsSavesAndPredicts) {
  compile_both();
  const std::string report = done(
      "train net.ingot --data data.safetensors --state first.safetensors --set lr=0.05 --steps 2000 "
      "--log log.jsonl --plot loss.svg --save last.safetensors");
  EXPECT_NE(report.find("2000 steps"), report.npos) << report;
  std::istringstream log(read_text(path("log.jsonl")));
  std::vector<double> losses;
  for (std::string line; std::getline(log, line);) losses.push_back(nlohmann::json::parse(line).at("loss"));
  ASSERT_EQ(losses.size(), 2000u);
  EXPECT_LT(losses.back(), 1e-3 * losses.front());
  EXPECT_NE(read_text(path("loss.svg")).find(">loss</text>"), std::string::npos);
  const SafeTensors saved = SafeTensors::read(path("last.safetensors"));
  const auto* weights = reinterpret_cast<const float*>(saved.find("w")->data.data());
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(weights[i], i + 1, 0.05);

  done("run net.ingot predict --input x=@data.safetensors:x --state last.safetensors --save-outputs out");
  EXPECT_EQ(read_text(path("out/prediction.npy")).substr(1, 5), "NUMPY");
  done("run net.ingot predict --input x=1 --state last.safetensors");
  EXPECT_EQ(ingot("run net.ingot predict --input x=@out/prediction.npy").exit_code, kUserError);
}

TEST_F(CliTest, AFolderIsProgramsWithFirstStateAndDefaults) {
  fs::create_directory(path("net"));
  std::string step = kTrainStep;
  const std::string name = "{ingot.name = \"lr\"}";
  step.replace(step.find(name), name.size(), "{ingot.name = \"lr\", ingot.default = dense<0.05> : tensor<f32>}");
  write("net/train_step.mlir", step);
  write("net/predict.mlir", kPredict);
  const std::vector<float> ones(4, 1);
  write_safetensors(path("net/state.safetensors"), {{"w", tensor({4}, ones)}, {"other", tensor({4}, ones)}});
  done("compile net/ -o folder.ingot");
  EXPECT_NE(done("inspect folder.ingot").find("default 0.05"), std::string::npos);
  done("train folder.ingot --data data.safetensors --save last.safetensors");

  compile_both();
  done("train net.ingot --data data.safetensors --state net/state.safetensors --set lr=0.05 --save wanted.safetensors");
  EXPECT_EQ(weights("last.safetensors"), weights("wanted.safetensors"));
  done("train folder.ingot --data data.safetensors --set lr=0 --save last.safetensors");
  const SafeTensors last = SafeTensors::read(path("last.safetensors"));
  EXPECT_EQ(std::memcmp(last.find("w")->data.data(), ones.data(), 16), 0) << "moved without a learning rate";
}

TEST_F(CliTest, ABundleRunsOnEveryProcessorOfItsKindUnlessAskedOtherwise) {
  ::unsetenv("INGOT_TARGETS");
  done("compile step.mlir -o step.ingot --state zeros");
  ::setenv("INGOT_TARGETS", "host", 1);
  const auto report = nlohmann::json::parse(done("inspect step.ingot --json"));
  std::vector<std::string> targets;
  for (const auto& target : report["targets"]) targets.push_back(target["name"]);
  EXPECT_EQ(targets, loops::default_targets());
  EXPECT_GE(targets.size(), 1u);
  for (const auto& target : report["targets"]) EXPECT_EQ(target["isa"], report["targets"][0]["isa"]);
  done("compile step.mlir -o step.ingot --state zeros --target host");
  EXPECT_EQ(nlohmann::json::parse(done("inspect step.ingot --json"))["targets"].size(), 1u);
}

TEST_F(CliTest, StrictBundlesHaveCodeOfTheirOwnAndSaySo) {
  const auto code = [&](const std::string& option) {
    done("compile step.mlir -o step.ingot --target x86-64-v3 " + option);
    const bool is_strict = !option.empty();
    EXPECT_EQ(nlohmann::json::parse(done("inspect step.ingot --json")).at("strict"), is_strict);
    EXPECT_EQ(done("inspect step.ingot").find("\n  strict: ") != std::string::npos, is_strict);
    return load_bundle(path("step.ingot")).targets.at(0).code;
  };
  EXPECT_NE(code("--strict"), code(""));
}

TEST_F(CliTest, InspectTellsWhatRunsHereAndWhyNot) {
  // The better row first, as users write it: what is behind the first that fits would run, too.
  done("compile step.mlir -o step.ingot --target x86-64-v4,x86-64-v3,riscv64");
  const auto report = nlohmann::json::parse(done("inspect step.ingot --json"));
  const std::string text = done("inspect step.ingot");
  std::string taken;
  for (const auto& row : report.at("targets")) {
    const loops::Target& target = loops::find_target(row.at("name").get<std::string>());
    EXPECT_EQ(row.at("runs_here"), target.runs_here()) << target.name;
    const std::string why = row.at("why_not");
    EXPECT_EQ(why.empty(), target.runs_here()) << why;
    if (target.runs_here() && taken.empty()) taken = target.name;
    const std::string shown =
        why.empty() ? (taken == target.name ? "(runs here)" : "(would run here)") : "(does not run here: " + why + ")";
    EXPECT_NE(text.find(shown), std::string::npos) << shown << text;
  }
  EXPECT_EQ(report.at("runs_here"), taken);
  const loops::Target& host = loops::find_target("host");
  if (host.isa == "x86-64") {
    EXPECT_EQ(report.at("targets").at(2).at("why_not"),
              "'riscv64' is code for riscv64, which this processor (x86-64) is not");
  }
  done("compile step.mlir -o elsewhere.ingot --target aarch64,riscv64 --state zeros");
  if (host.isa == "x86-64") {
    EXPECT_NE(refused("run elsewhere.ingot")
                  .find("'aarch64' is code for aarch64, which this processor (x86-64) is not; 'riscv64' is"),
              std::string::npos);
  }
}

TEST_F(CliTest, InspectTellsOfEveryTarget) {
  done("compile train_step=step.mlir predict.mlir -o net.ingot --target x86-64-v3,aarch64");
  const auto report = nlohmann::json::parse(done("inspect net.ingot --json --memory-svg memory.svg"));
  ASSERT_EQ(report.at("targets").size(), 2u);
  for (const auto& target : report.at("targets")) EXPECT_GT(target.at("code_bytes"), 0);
  for (const bundle::Target& target : load_bundle(path("net.ingot")).targets) {
    for (const bundle::Kernel& kernel : target.kernels) EXPECT_GT(kernel.stack_bytes, 0u) << kernel.name;
  }
  const auto& predict = report.at("entries").at(1);
  EXPECT_EQ(predict.at("name"), "predict");
  EXPECT_EQ(predict.at("flops"), 2 * 8 * 4);
  EXPECT_EQ(predict.at("inputs").at(0).at("shape"), (std::vector<int>{8, 4}));
  EXPECT_EQ(predict.at("plans").at(1).at("target"), "aarch64");
  EXPECT_EQ(report.at("state").at(0).at("name"), "w");
  const std::string text = done("inspect net.ingot");
  for (const char* part : {"entry train_step", "batch.x: f32[8,4]", "x86-64-v3", "aarch64", "lower bound"}) {
    EXPECT_NE(text.find(part), text.npos) << part;
  }
  const std::string picture = read_text(path("memory.svg"));
  EXPECT_NE(picture.find("<title>"), picture.npos);
  done("inspect net.ingot --memory-svg again.svg --entry train_step --target x86-64-v3");
  EXPECT_EQ(read_text(path("again.svg")), picture);
}

TEST_F(CliTest, DumpsEveryStageOfEachTarget) {
  done("compile train_step=step.mlir predict.mlir -o net.ingot --target x86-64-v3,aarch64 --dump-dir dump");
  for (const std::string entry : {"train_step", "predict"}) {
    EXPECT_NE(read_text(path("dump/" + entry + "/01.inline_calls.mlir")).find("@" + entry), std::string::npos);
  }
  const struct {
    const char *stage, *file, *says;
  } stages[] = {{"lower", "predict.lowered", "function predict {"}, {"loops", "000.*.loops", "kernel "},
                {"plan", "predict.plan", "plan predict {"},         {"llvm", "000.*.ll", "define "},
                {"optimized.llvm", "000.*.ll", "define "},          {"asm", "000.*.s", "ret"}};
  for (const std::string target : {"x86-64-v3", "aarch64"}) {
    size_t number = compile_passes().size();
    for (const auto& stage : stages) {
      const std::string files = path(fmt::format("dump/{}/{:02}.{}/{}", target, ++number, stage.stage, stage.file));
      EXPECT_EQ(std::system(fmt::format("grep -q '{}' {}", stage.says, files).c_str()), 0) << files;
    }
  }
}

TEST_F(CliTest, PrintsStagesAndKeepsTheBundle) {
  const std::string text =
      done("compile predict.mlir -o predict.ingot --print-after lower,loops,plan,asm --target host");
  for (const char* part : {"// after lower for ", "\nfunction predict {", "// after loops for ", "\nkernel ",
                           "// after plan for ", "\nplan predict {", "ret"}) {
    EXPECT_NE(text.find(part), text.npos) << text;
  }
  EXPECT_EQ(text.find("// after fuse"), text.npos);
  const std::string loud = read_text(path("predict.ingot"));
  done("compile predict.mlir -o predict.ingot --target host");
  EXPECT_EQ(loud, read_text(path("predict.ingot")));
}

TEST_F(CliTest, ExplainsWhatWasChosen) {
  const std::string order = done("compile step.mlir -o x.ingot --target x86-64-v3,aarch64 --explain order");
  for (const char* part :
       {"for x86-64-v3\norder of step: ", "for aarch64\norder of step: ", "\n*    0 ", "makes e ("}) {
    EXPECT_NE(order.find(part), order.npos) << order;
  }
  const std::string choices = done("compile step.mlir -o x.ingot --target x86-64-v3,aarch64 --explain contraction");
  for (const std::string target : {"x86-64-v3", "aarch64"}) {
    const std::string first = fmt::format("step.mlir:5:8: f32_dot_general_8x4_subtract for {}: ", target);
    EXPECT_NE(choices.find(first), choices.npos) << choices;
  }
  write("product.mlir",
        "func.func @product(%a: tensor<96x512xf32>, %b: tensor<512x64xf32>) -> tensor<96x64xf32> {\n"
        "  %c = stablehlo.dot %a, %b : (tensor<96x512xf32>, tensor<512x64xf32>) -> tensor<96x64xf32>\n"
        "  return %c : tensor<96x64xf32>\n}\n");
  const std::string code = done("compile product.mlir -o x.ingot --target x86-64-v3,aarch64 --explain contraction");
  for (const std::string target : {"x86-64-v3", "aarch64"}) {
    const size_t line = code.find(fmt::format("f32_dot_general_96x64x512 for {}: ", target));
    ASSERT_NE(line, code.npos) << code;
    EXPECT_NE(code.substr(line, code.find('\n', line) - line).find(" instructions for each of "), code.npos) << code;
  }
  EXPECT_EQ(ingot("compile step.mlir -o x.ingot --explain everything").exit_code, kUsageError);
}

TEST_F(CliTest, ExplainsWhatPassesChose) {
  const std::string image = "tensor<1x8x8x4xf32>", kernel = "tensor<3x3x4x4xf32>";
  write("apart.mlir",
        fmt::format(
            "func.func @main(%x: {0}, %w: {1}) -> {0} {{\n"
            "  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = "
            "{{pad = [[1, 1], [1, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : "
            "({0}, {1}) -> {0}\n"
            "  %1 = stablehlo.reverse %0, dims = [1] : {0}\n  return %1 : {0}\n}}\n",
            image, kernel));
  const std::string apart = done("compile apart.mlir -o x.ingot --target x86-64-v3 --explain fuse");
  EXPECT_NE(apart.find("apart.mlir:3:8: fuse: stablehlo.convolution stays out of the kernel of stablehlo.reverse: "),
            apart.npos)
      << apart;
  const std::string layouts = done("compile apart.mlir -o x.ingot --target x86-64-v3 --explain layout");
  EXPECT_NE(layouts.find("apart.mlir:2:8: layout: convolution [0, 1, 2, 3] x "), layouts.npos) << layouts;
}

TEST_F(CliTest, PassesAreLeftOutUnlessTheyAreNeeded) {
  done("compile predict.mlir -o predict.ingot --skip fuse,canonicalize --dump-dir dump");
  const auto fuse = std::ranges::find(compile_passes(), std::string_view("fuse"), &PassRow::name);
  EXPECT_TRUE(fs::exists(path(fmt::format("dump/{:02}.fuse.mlir", fuse - compile_passes().begin() + 1))));
  done("run predict.ingot --input x=1 --state first.safetensors");
  write("calls.mlir",
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %0 = call @f(%x) : (tensor<f32>) -> tensor<f32>\n"
        "  return %0 : tensor<f32>\n}\nfunc.func private @f(%x: tensor<f32>) -> tensor<f32> {\n"
        "  return %x : tensor<f32>\n}\n");
  const Outcome outcome = ingot("compile calls.mlir -o calls.ingot --skip inline_calls");
  EXPECT_EQ(outcome.exit_code, kUserError);
  EXPECT_NE(outcome.errors.find("--skip inline_calls: this program needs the pass: func.call is left at calls.mlir:2:"),
            std::string::npos)
      << outcome.errors;
}

TEST_F(CliTest, BenchMeasures) {
  compile_both();
  const auto report =
      nlohmann::json::parse(done("bench net.ingot predict --state first.safetensors --set x=1 --seconds 0.01 --json"));
  EXPECT_EQ(report.at("flops"), 64);
  for (const char* name : {"step_ms", "step_ms_p10", "gflops_per_second", "code_bytes"}) {
    EXPECT_GT(report.at(name), 0) << name;
  }
  EXPECT_GE(report.at("arena_bytes"), report.at("lower_bound_bytes"));

  std::istringstream lines(
      done("bench net.ingot train_step --state first.safetensors --seconds 0.01 --steps 99 --json"));
  std::string line;
  std::getline(lines, line);
  double percent = 0, ms = 1e9;
  while (std::getline(lines, line)) {
    const auto step = nlohmann::json::parse(line);
    EXPECT_LE(step.at("ms"), ms) << "the longest come first";
    ms = step.at("ms");
    percent += static_cast<double>(step.at("percent"));
    EXPECT_EQ(step.at("rounds"), 1);
  }
  EXPECT_NEAR(percent, 100, 1e-6);

  done("bench net.ingot train_step --state first.safetensors --seconds 0.01 --trace steps.json");
  const auto events = nlohmann::json::parse(read_text(path("steps.json"))).at("traceEvents");
  ASSERT_FALSE(events.empty());
  double end = 0;
  for (const auto& event : events) {
    EXPECT_EQ(event.at("ph"), "X");
    EXPECT_GE(event.at("ts"), end - 1e-6) << "a step begins where another has ended";
    end = static_cast<double>(event.at("ts")) + static_cast<double>(event.at("dur"));
  }
}

TEST_F(CliTest, OptPrintsWhatItReads) {
  done("opt step.mlir --passes=canonicalize,fuse -o fused.mlir");
  EXPECT_EQ(done("opt fused.mlir --passes=cse"), read_text(path("fused.mlir")));
  EXPECT_EQ(done("opt - --passes=canonicalize,fuse <step.mlir"), read_text(path("fused.mlir")));
  EXPECT_NE(done("opt step.mlir --summary").find("flops"), std::string::npos);
}

TEST_F(CliTest, OptTakesTheSizesThatAProgramLeavesOpen) {
  write("open.mlir", "func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {\n  return %x : tensor<?x4xf32>\n}\n");
  EXPECT_NE(done("opt open.mlir --passes=refine_shapes --shape x=3x4").find("tensor<3x4xf32>"), std::string::npos);
}

// JAX names private functions after Python's, users files after both.
TEST_F(CliTest, AnEntryMayBeCalledLikeAFunctionThatItCalls) {
  write("twice.mlir",
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
        "  %0 = call @twice(%x) : (tensor<f32>) -> tensor<f32>\n  return %0 : tensor<f32>\n}\n"
        "func.func private @twice(%x: tensor<f32>) -> tensor<f32> {\n"
        "  %0 = stablehlo.add %x, %x : tensor<f32>\n  return %0 : tensor<f32>\n}\n");
  done("compile twice.mlir -o twice.ingot");
  EXPECT_NE(done("inspect twice.ingot").find("twice"), std::string::npos);
}

TEST_F(CliTest, RooflineTellsWhatBoundsEachKernel) {
  compile_both();
  std::istringstream lines(done(
      "bench net.ingot train_step --state first.safetensors --seconds 0.01 --roofline --roofline-svg roof.svg --json"));
  std::map<std::string, std::vector<nlohmann::json>> rows;
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(nlohmann::json::parse(line).at("entry"), "train_step");
  while (std::getline(lines, line)) {
    const auto row = nlohmann::json::parse(line);
    rows[row.at("row")].push_back(row);
  }
  ASSERT_EQ(rows["machine"].size(), 1u);
  for (const char* name :
       {"f32_gflops_per_second", "f64_gflops_per_second", "L1_gb_per_second", "memory_gb_per_second", "step_ns"}) {
    EXPECT_GT(rows["machine"][0].at(name), 0) << name;
  }
  ASSERT_EQ(rows["call"].size(), 3u);
  double flops = 0;
  std::set<std::string> kernels, sources;
  for (const auto& call : rows["call"]) {
    for (const char* name : {"ms", "attainable_ms", "gflops_per_second", "gb_per_second"}) {
      EXPECT_GT(call.at(name), 0) << name;
    }
    flops += call.at("flops").get<double>();
    kernels.insert(call.at("kernel"));
    sources.insert(call.at("source"));
  }
  EXPECT_EQ(sources, (std::set<std::string>{"step.mlir:5:8", "step.mlir:7:8", "step.mlir:11:8"}));
  EXPECT_TRUE(kernels.contains("f32_dot_general_8x4_subtract"));
  EXPECT_EQ(rows["kernel"].size(), kernels.size());
  EXPECT_GE(rows["bound"].size(), 1u);
  ASSERT_EQ(rows["sum"].size(), 1u);
  EXPECT_EQ(rows["sum"][0].at("flops"), flops);
  EXPECT_EQ(rows["sum"][0].at("calls"), 3);
  EXPECT_NE(read_text(path("roof.svg")).find("GFLOP/s"), std::string::npos);

  const std::string text = done("bench net.ingot predict --state first.safetensors --seconds 0.01 --roofline");
  for (const char* part : {"machine: ", "% of roof", "bound by", "predict.mlir:4:8"}) {
    EXPECT_NE(text.find(part), text.npos) << text;
  }
}

TEST_F(CliTest, CheckJudges) {
  EXPECT_NE(done("check check.mlir").find("1 passed, 0 failed"), std::string::npos);
  write("wrong.mlir", std::string(kCheck).replace(std::string(kCheck).find("2.0, 4.0"), 8, "2.0, 5.0"));
  EXPECT_EQ(ingot("check wrong.mlir").exit_code, kUserError);
}

TEST_F(CliTest, MistakesAreExplainedAndLeaveNothing) {
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

TEST_F(CliTest, NamesAreNoPathsAndNoEscapeSequences) {
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

TEST_F(CliTest, LimitsAreStated) {
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

TEST_F(CliTest, FailedCompilationKeepsTheOldBundle) {
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

TEST(Chart, EscapesAndBreaksLines) {
  Chart chart("a < b", {"x", 0, 2}, {"y", 0, 0});
  chart.add_line({{0, 1}, {1, NAN}, {2, 1}});
  EXPECT_NE(chart.svg().find("a &lt; b"), std::string::npos);
  EXPECT_EQ(chart.svg().find("nan"), std::string::npos);
}

}  // namespace
}  // namespace ingot
