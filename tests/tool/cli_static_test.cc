// ingot compile --emit static, as its user meets it.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/tool/cli_fixture.h"

namespace ingot {
namespace {

using CliStaticTest = CliTest;

TEST_F(CliStaticTest, AFolderHasThreeFilesOfItsName) {
  const std::string compile = "compile train_step=step.mlir predict.mlir --state first.safetensors --target host ";
  EXPECT_NE(done(compile + "--emit static -o my-net/").find("my-net/: "), std::string::npos);
  for (const char* name : {"my-net/my_net.h", "my-net/my_net.c", "my-net/my_net_kernels.o"}) {
    EXPECT_TRUE(std::filesystem::exists(path(name))) << name;
  }
  const std::string header = read_text(path("my-net/my_net.h"));
  for (const char* text :
       {"void my_net_start(void);", "extern float my_net_train_step_batch_x[32]; /* input batch.x: f32[8,4] */",
        "extern float my_net_predict_prediction[8]; /* output prediction: f32[8] */", "float w[4]; /* w: f32[4] */",
        "MY_NET_MUST_CHECK int my_net_predict(void);", "#define MY_NET_STATE_BYTES 64u"}) {
    EXPECT_NE(header.find(text), std::string::npos) << text << "\n" << header;
  }
  const std::string source = read_text(path("my-net/my_net.c")), object = read_text(path("my-net/my_net_kernels.o"));
  const auto report = nlohmann::json::parse(done(compile + "--emit static -o my-net --json"));
  EXPECT_EQ(report.at("static"), "my-net");
  EXPECT_EQ(report.at("bytes"), header.size() + source.size() + object.size());
  EXPECT_EQ(read_text(path("my-net/my_net.c")), source);
  EXPECT_EQ(read_text(path("my-net/my_net_kernels.o")), object);
}

TEST_F(CliStaticTest, MistakesAreNamed) {
  done("keygen release");
  write("file", "");
  const struct {
    const char *options, *says;
  } mistakes[] = {
      {"-o net --target x86-64-v3,aarch64", "is for one processor, and the targets are x86-64-v3, aarch64; name one"},
      {"-o file --target host", "file: cannot make this folder: "},
      {"-o missing/net --target host", "missing/net: cannot make this folder: No such file or directory"},
      {"-o net --target host --sign release.key", "--emit static writes no bundle"},
      {"-o net --target host", "state 'w' has no first value"},
      {"-o net --target pdp11", "unknown target 'pdp11'"},
  };
  for (const auto& [options, says] : mistakes) {
    const std::string said = refused(fmt::format("compile step.mlir --emit static {}", options));
    EXPECT_NE(said.find(says), std::string::npos) << options << ": " << said;
  }
}

}  // namespace
}  // namespace ingot
