// What the ingot tool shows of the compiler: every stage as text, why it chose what it chose, and what bounds each kernel.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "aot/pipeline/passes.h"
#include "tests/tool/cli_fixture.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

using CliStagesTest = CliTest;

TEST_F(CliStagesTest, DumpsEveryStageOfEachTarget) {
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

TEST_F(CliStagesTest, PrintsStagesAndKeepsTheBundle) {
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

TEST_F(CliStagesTest, ExplainsWhatWasChosen) {
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

TEST_F(CliStagesTest, ExplainsWhatPassesChose) {
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

TEST_F(CliStagesTest, PassesAreLeftOutUnlessTheyAreNeeded) {
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

TEST_F(CliStagesTest, OptPrintsWhatItReads) {
  done("opt step.mlir --passes=canonicalize,fuse -o fused.mlir");
  EXPECT_EQ(done("opt fused.mlir --passes=cse"), read_text(path("fused.mlir")));
  EXPECT_EQ(done("opt - --passes=canonicalize,fuse <step.mlir"), read_text(path("fused.mlir")));
  EXPECT_NE(done("opt step.mlir --summary").find("flops"), std::string::npos);
}

TEST_F(CliStagesTest, OptTakesTheSizesThatAProgramLeavesOpen) {
  write("open.mlir", "func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {\n  return %x : tensor<?x4xf32>\n}\n");
  EXPECT_NE(done("opt open.mlir --passes=refine_shapes --shape x=3x4").find("tensor<3x4xf32>"), std::string::npos);
}

// JAX names private functions after Python's, users files after both.
TEST_F(CliStagesTest, RooflineTellsWhatBoundsEachKernel) {
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

}  // namespace
}  // namespace ingot
