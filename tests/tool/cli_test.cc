// What each command of the ingot tool does.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "aot/base/version.h"
#include "aot/loops/target.h"
#include "apps/ingot/files/sources.h"
#include "apps/ingot/terminal/chart.h"
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

TEST_F(CliTest, AnEntryMayBeCalledLikeAFunctionThatItCalls) {
  write("twice.mlir",
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
        "  %0 = call @twice(%x) : (tensor<f32>) -> tensor<f32>\n  return %0 : tensor<f32>\n}\n"
        "func.func private @twice(%x: tensor<f32>) -> tensor<f32> {\n"
        "  %0 = stablehlo.add %x, %x : tensor<f32>\n  return %0 : tensor<f32>\n}\n");
  done("compile twice.mlir -o twice.ingot");
  EXPECT_NE(done("inspect twice.ingot").find("twice"), std::string::npos);
}

TEST_F(CliTest, CheckJudges) {
  EXPECT_NE(done("check check.mlir").find("1 passed, 0 failed"), std::string::npos);
  write("wrong.mlir", std::string(kCheck).replace(std::string(kCheck).find("2.0, 4.0"), 8, "2.0, 5.0"));
  EXPECT_EQ(ingot("check wrong.mlir").exit_code, kUserError);
}

TEST(Chart, EscapesAndBreaksLines) {
  Chart chart("a < b", {"x", 0, 2}, {"y", 0, 0});
  chart.add_line({{0, 1}, {1, NAN}, {2, 1}});
  EXPECT_NE(chart.svg().find("a &lt; b"), std::string::npos);
  EXPECT_EQ(chart.svg().find("nan"), std::string::npos);
}

}  // namespace
}  // namespace ingot
