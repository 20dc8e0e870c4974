// Trainings that are stopped, killed and gone on with end as if nothing had happened.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/environment.h"
#include "tests/tool/cli_fixture.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

class CliTrainTest : public CliTest {
 protected:
  CliTrainTest() { compile_both(); }

  // Says `ingot train` over the five batches, from weights of zero.
  static std::string train(const std::string& arguments) {
    return "train net.ingot --data data.safetensors --set lr=0.05 --state zeros " + arguments;
  }

  std::vector<int> logged_steps(const std::string& log) const {
    std::istringstream lines(read_text(path(log)));
    std::vector<int> steps;
    for (std::string line; std::getline(lines, line);) steps.push_back(nlohmann::json::parse(line).at("step"));
    return steps;
  }

  // Starts a training that would take days, and sends it a signal once it has logged a few steps.
  int stop_by(int signal, const std::string& arguments) const {
    const pid_t child = fork();
    if (child == 0) {
      if (chdir(folder_.path().c_str()) != 0) _exit(99);
      dup2(open("err", O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
      const std::string line = fmt::format("exec {} {}", INGOT_TOOL, arguments);
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(99);
    }
    int status = 0;
    while (!fs::exists(path("log")) || fs::file_size(path("log")) < 100) {
      if (waitpid(child, &status, WNOHANG) != 0) return -2;
      usleep(1000);
    }
    kill(child, signal);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_F(CliTrainTest, FiveStepsAndFiveMoreAreTen) {
  done(train("--steps 10 --save ten.safetensors --log ten.jsonl"));
  done(train("--steps 3 --save s.safetensors --resume --log s.jsonl"));  // nothing is there yet
  const std::string report = done(train("--steps 10 --save s.safetensors --resume --log s.jsonl"));
  EXPECT_NE(report.find("going on after step 3 of 10"), report.npos) << report;
  EXPECT_EQ(read_text(path("s.safetensors")), read_text(path("ten.safetensors")));
  EXPECT_EQ(read_text(path("s.jsonl")), read_text(path("ten.jsonl")));
  const std::string again = done(train("--steps 10 --save s.safetensors --resume"));
  EXPECT_NE(again.find("nothing was left to do"), again.npos) << again;
  done(train("--steps 7 --save s.safetensors --resume"));
  EXPECT_EQ(read_text(path("s.safetensors")), read_text(path("ten.safetensors"))) << "fewer steps than were taken";
}

TEST_F(CliTrainTest, SaysWhichDataNothingReads) {
  const Outcome outcome = ingot(train("--steps 1"));
  EXPECT_EQ(outcome.exit_code, kSuccess) << outcome.errors;
  EXPECT_EQ(outcome.errors, "warning: the data has 'narrow', which is no input of net.ingot and not read\n");
}

TEST_F(CliTrainTest, SavesEverySoManySteps) {
  done(train("--steps 4 --save four.safetensors"));
  done(train("--steps 5 --save s.safetensors --save-every 2"));
  EXPECT_EQ(read_text(path("s.safetensors.previous")), read_text(path("four.safetensors")));
  done(train("--steps 6 --save s.safetensors --save-every 2 --resume"));
  EXPECT_NE(read_text(path("s.safetensors.previous")), read_text(path("s.safetensors"))) << "the last is saved once";
  done(train("--steps 2 --save t.safetensors --save-every 0.000000001s"));
  EXPECT_TRUE(fs::exists(path("t.safetensors.previous")));
  for (const std::string period : {"0", "-1", "0s", "often", "10m", "s"}) {
    const std::string says = refused(train("--save s.safetensors --save-every " + period));
    EXPECT_NE(says.find("--save-every " + period + ": expected"), says.npos) << says;
  }
}

TEST_F(CliTrainTest, SignalsEndItInGoodOrder) {
  for (const int signal : {SIGINT, SIGTERM}) {
    fs::remove(path("log"));
    fs::remove(path("s.safetensors"));
    EXPECT_EQ(stop_by(signal, train("--steps 1000000000000 --save s.safetensors --log log")), kSignal + signal);
    const std::string errors = read_text(path("err"));
    const std::string says = errors.substr(std::min(errors.find("stopped"), errors.size()));
    const int steps = std::atoi(says.substr(says.find("after step ") + 11).c_str());
    EXPECT_EQ(says, fmt::format("stopped by {} after step {} of 1000000000000; the state is in s.safetensors; the same "
                                "command with --resume goes on\n",
                                signal == SIGINT ? "SIGINT" : "SIGTERM", steps));
    EXPECT_EQ(logged_steps("log").back() + 1, steps);
    done(train(fmt::format("--steps {} --save s.safetensors --resume --log log", steps + 3)));
    done(train(fmt::format("--steps {} --save straight.safetensors", steps + 3)));
    EXPECT_EQ(read_text(path("s.safetensors")), read_text(path("straight.safetensors")));
    EXPECT_EQ(logged_steps("log").size(), static_cast<size_t>(steps + 3));
  }
}

// INGOT_KILLS says how often.
TEST_F(CliTrainTest, KilledItGoesOnFromTheLastSave) {
  const int64_t kills = number_from_environment("INGOT_KILLS", 1);
  for (int64_t i = 0; i < kills && !HasFailure(); ++i) {
    for (const char* file : {"s.safetensors", "s.safetensors.previous", "log"}) fs::remove(path(file));
    EXPECT_EQ(stop_by(SIGKILL, train("--steps 1000000000000 --save s.safetensors --save-every 1 --log log")), -1);
    const int killed_in = logged_steps("log").back();
    const std::string report =
        done(train(fmt::format("--steps {} --save s.safetensors --resume --log log", killed_in + 5)));
    EXPECT_NE(report.find("going on after step "), report.npos) << report;
    done(train(fmt::format("--steps {} --save straight.safetensors --log straight", killed_in + 5)));
    EXPECT_EQ(read_text(path("s.safetensors")), read_text(path("straight.safetensors")));
    EXPECT_EQ(read_text(path("log")), read_text(path("straight")));
  }
}

TEST_F(CliTrainTest, ADamagedCheckpointGivesWayToTheOneBefore) {
  done(train("--steps 6 --save wanted.safetensors"));
  done(train("--steps 5 --save s.safetensors --save-every 4"));
  std::string damaged = read_text(path("s.safetensors"));
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  write("s.safetensors", damaged);
  const Outcome outcome = ingot(train("--steps 6 --save s.safetensors --resume"));
  EXPECT_EQ(outcome.exit_code, kSuccess) << outcome.errors;
  EXPECT_NE(outcome.errors.find("going on from s.safetensors.previous"), std::string::npos) << outcome.errors;
  EXPECT_NE(outcome.output.find("going on after step 4 of 6"), std::string::npos) << outcome.output;
  EXPECT_EQ(read_text(path("s.safetensors")), read_text(path("wanted.safetensors")));
}

TEST_F(CliTrainTest, SaysWhatACheckpointDoesNotFit) {
  done(train("--save s.safetensors"));
  const std::vector<float> x(3 * 8 * 4, 0.5f), y(3 * 8, 1);
  write_safetensors(path("other.safetensors"), {{"batch.x", tensor({3, 8, 4}, x)}, {"batch.y", tensor({3, 8}, y)}});
  const std::string other = "train net.ingot --data other.safetensors --set lr=0.05 --resume --save ";
  EXPECT_NE(refused(other + "s.safetensors").find("over 5 steps of data, but this data has 3"), std::string::npos);
  EXPECT_NE(refused(other + "first.safetensors").find("does not say where its training stands"), std::string::npos);

  done("compile train_step=step.mlir -o net.ingot");
  const Outcome outcome = ingot(train("--save s.safetensors --resume --steps 6"));
  EXPECT_EQ(outcome.exit_code, kSuccess);
  EXPECT_NE(outcome.errors.find("warning: s.safetensors was saved by another program, net train_step "),
            std::string::npos)
      << outcome.errors;
}

TEST_F(CliTrainTest, ThePlaceForSavingIsTriedFirst) {
  fs::create_directory(path("s.safetensors.previous"));
  fs::create_directory(path("folder"));
  fs::create_symlink("nowhere", path("link"));
  for (const std::string place : {"s.safetensors", "folder", "link", "nowhere/s"}) {
    refused(train("--log log --save " + place));
    EXPECT_FALSE(fs::exists(path("log"))) << place << ": steps were taken";
  }
  EXPECT_NE(refused(train("--resume")).find("--save"), std::string::npos);
  EXPECT_NE(refused(train("--steps -5")).find("--steps -5"), std::string::npos);
}

TEST_F(CliTrainTest, DataWithoutStepsIsAnError) {
  const std::vector<float> none;
  write_safetensors(path("none.safetensors"),
                    {{"batch.x", tensor({0, 8, 4}, none)}, {"batch.y", tensor({0, 8}, none)}});
  const std::string says = refused("train net.ingot --data none.safetensors --set lr=0.05 --state zeros");
  EXPECT_NE(says.find("'batch.x' has no steps"), says.npos) << says;
  const std::vector<float> y(5 * 8, 1);
  write_safetensors(path("half.safetensors"), {{"batch.x", tensor({0, 8, 4}, none)}, {"batch.y", tensor({5, 8}, y)}});
  refused("train net.ingot --data half.safetensors --set lr=0.05 --state zeros");
}

}  // namespace
}  // namespace ingot
