// Where the tool's state comes from, and what becomes of it when something goes wrong.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>

#include "tests/tool/cli_fixture.h"

namespace ingot {
namespace {

using CliStateTest = CliTest;

namespace fs = std::filesystem;

const std::string kTrain = "train net.ingot --data data.safetensors --set lr=0.05 ";

// What @init of these programs gives a value: w, or nothing.
std::string init_program(bool returns_w) {
  return std::string("func.func @init() -> (tensor<4xf32>") + (returns_w ? " {ingot.state = \"w\"}" : "") +
         ") {\n  %w = stablehlo.constant dense<2.0> : tensor<4xf32>\n  return %w : tensor<4xf32>\n}\n";
}

TEST_F(CliStateTest, StateThatNothingGaveAValueIsAnError) {
  compile_both();
  for (const std::string& arguments : {kTrain, std::string("run net.ingot predict --input x=1")}) {
    const std::string says = refused(arguments);
    EXPECT_NE(says.find("'w' has no value yet"), says.npos) << says;
    EXPECT_NE(says.find("by --state FILE.safetensors; zeros by --state zeros"), says.npos) << says;
  }
  fs::rename(path("first.safetensors"), path("state.safetensors"));
  EXPECT_NE(refused(kTrain).find("by --state state.safetensors"), std::string::npos);
  done("bench net.ingot predict --seconds 0.01");  // zeros will do for times
}

TEST_F(CliStateTest, ZerosAreAskedFor) {
  compile_both();
  done(kTrain + "--state zeros --save asked.safetensors");
  done(kTrain + "--state first.safetensors --save wanted.safetensors");
  EXPECT_EQ(weights("asked.safetensors"), weights("wanted.safetensors"));
  done("compile train_step=step.mlir -o net.ingot --state zeros");
  done(kTrain + "--save compiled.safetensors");
  EXPECT_EQ(weights("compiled.safetensors"), weights("wanted.safetensors"));
}

TEST_F(CliStateTest, CompileTakesTheStateBesideTheProgram) {
  const std::vector<float> ones(4, 1);
  write_safetensors(path("state.safetensors"), {{"w", tensor({4}, ones)}});
  const std::string report = done("compile train_step=step.mlir predict.mlir -o net.ingot");
  EXPECT_NE(report.find("first values of the state from state.safetensors"), report.npos) << report;
  done("run net.ingot train_step --input batch.x=0 --input batch.y=0 --input lr=0 --save-state s.safetensors");
  EXPECT_EQ(weights("s.safetensors"), ones);
}

TEST_F(CliStateTest, InitGivesEveryStateAValue) {
  write("init.mlir", init_program(true));
  done("compile train_step=step.mlir init.mlir -o net.ingot");
  done(kTrain + "--set lr=0 --save s.safetensors");
  EXPECT_EQ(weights("s.safetensors"), std::vector<float>(4, 2));

  write("init.mlir", init_program(false));
  const std::string says = refused("compile train_step=step.mlir init.mlir -o net.ingot");
  EXPECT_NE(says.find("@init leaves the state w: F32[4] without a value"), says.npos) << says;
  done("compile train_step=step.mlir init.mlir -o net.ingot --state zeros");
}

TEST_F(CliStateTest, ABadLossStopsAndTheLastGoodStateIsKept) {
  compile_both();
  std::vector<float> x(3 * 8 * 4, 0.5f), y(3 * 8, 1);
  y[2 * 8] = NAN;
  write_safetensors(path("bad.safetensors"), {{"batch.x", tensor({3, 8, 4}, x)}, {"batch.y", tensor({3, 8}, y)}});
  const std::string train = "train net.ingot --data bad.safetensors --set lr=0.01 --state zeros ";
  const std::string says = refused(train + "--save kept.safetensors --log log.jsonl");
  EXPECT_NE(says.find("step 2 gave loss nan; the state before it is in kept.safetensors"), says.npos) << says;
  done(train + "--steps 2 --save wanted.safetensors");
  EXPECT_EQ(weights("kept.safetensors"), weights("wanted.safetensors"));
  EXPECT_NE(read_text(path("log.jsonl")).find("\"step\":2"), std::string::npos);
  done(train + "--steps 1 --save resumed.safetensors");
  refused(train + "--resume --save resumed.safetensors");
  EXPECT_EQ(weights("resumed.safetensors"), weights("wanted.safetensors"));

  EXPECT_NE(refused(train).find("nothing is saved"), std::string::npos);
  done(train + "--keep-going --save bad_after_all.safetensors");
  EXPECT_TRUE(std::isnan(weights("bad_after_all.safetensors")[0]));
}

TEST_F(CliStateTest, FilesAreReplacedWholeAndAsTheyWere) {
  write("victim", "mine");
  fs::create_symlink("victim", path(fmt::format("new.tmp{}.0", getpid())));
  fs::permissions(path("victim"), fs::perms::owner_read | fs::perms::owner_write);
  write("new", "something");
  EXPECT_EQ(read_text(path("victim")), "mine");
  EXPECT_FALSE(fs::is_symlink(path("new")));
  fs::create_symlink("victim", path("link"));
  write("link", "yours");
  EXPECT_EQ(read_text(path("victim")), "yours");
  EXPECT_EQ(fs::status(path("victim")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_TRUE(fs::is_symlink(path("link")));
}

// What a process that a signal ends while it writes `name` leaves in its folder.
std::vector<std::string> left_after(int signal, const std::string& folder, const std::string& name) {
  const pid_t writer = fork();
  if (writer == 0) {
    WholeFile file(folder + "/" + name);
    file.write("half of it");
    raise(signal);
  }
  int status = 0;
  waitpid(writer, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  return names;
}

TEST_F(CliStateTest, SignalsWhileAFileIsWrittenLeaveNothing) {
  const TemporaryFolder folder;
  const int nameless = open(folder.path().c_str(), O_TMPFILE | O_WRONLY, 0666);
  if (nameless < 0) GTEST_SKIP() << "this file system has no files without names";
  close(nameless);
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    EXPECT_EQ(left_after(signal, folder.path(), "new"), std::vector<std::string>());
  }
  write_file(folder.file("old"), "whole");
  EXPECT_EQ(left_after(SIGTERM, folder.path(), "old"), std::vector<std::string>{"old"});
  EXPECT_EQ(read_text(folder.file("old")), "whole");
}

}  // namespace
}  // namespace ingot
