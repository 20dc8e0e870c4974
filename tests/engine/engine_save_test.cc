// How a state file takes the place of another: whatever stands in the way, nothing whole is lost.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>

#include "tests/engine/engine_fixture.h"
#include "tests/support/file_text.h"

namespace {

std::function<void(const char* to)> before_rename;
bool has_hard_links = true;

}  // namespace

// Stand in for the C library's, which the engine calls.
extern "C" int rename(const char* from, const char* to) noexcept {
  if (const auto call = before_rename) call(to);  // which may set another
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
extern "C" int link(const char* from, const char* to) noexcept {
  if (has_hard_links) return static_cast<int>(syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
  errno = EPERM;
  return -1;
}

namespace ingot::test {
namespace {

namespace fs = std::filesystem;

// A training, of which each save differs from the one before.
class Saver {
 public:
  explicit Saver(const OpenBundle& bundle) : open(bundle), ports(open.session) {
    EXPECT_EQ(ingot_run(open.session, kInit, nullptr), INGOT_OK);
  }
  ingot_status train_and_save(const std::string& path) {
    EXPECT_EQ(ingot_run(open.session, kTrainStep, nullptr), INGOT_OK);
    return ingot_save_state(open.session, path.c_str(), &error);
  }
  bool can_load(const std::string& path) { return ingot_load_state(open.session, path.c_str(), 0, &error) == INGOT_OK; }

  OpenSession open;
  FitPorts ports;
  ingot_error error = {};
};

class EngineSave : public testing::Test {
 protected:
  ~EngineSave() override {
    before_rename = nullptr;
    has_hard_links = true;
  }

  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& item : fs::directory_iterator(directory.path())) names.insert(item.path().filename());
    return names;
  }
  std::string save() {
    EXPECT_EQ(saver.train_and_save(path), INGOT_OK) << saver.error.text;
    return file_text(path);
  }
  void expect_failure(const std::string& says) {
    EXPECT_EQ(saver.train_and_save(path), INGOT_FILE_FAILED);
    EXPECT_NE(std::string(saver.error.text).find(says), std::string::npos) << saver.error.text;
  }

  OpenBundle bundle{bundle::write_bundle(fit_spec())};
  Saver saver{bundle};
  TemporaryFolder directory;
  std::string path = directory.file("s"), previous = path + ".previous";
};

TEST_F(EngineSave, SaversAtATimeDamageNothing) {
  save();
  Saver other(bundle);
  std::string others;
  before_rename = [&](const char*) {
    before_rename = nullptr;
    EXPECT_EQ(other.train_and_save(path), INGOT_OK) << other.error.text;
    others = file_text(path);
  };
  const std::string saved = save();
  EXPECT_NE(saved, others);
  EXPECT_TRUE(saver.can_load(path)) << saver.error.text;
  EXPECT_TRUE(saver.can_load(previous)) << saver.error.text;
  EXPECT_EQ(files(), (std::set<std::string>{"s", "s.previous"}));
}

TEST_F(EngineSave, ProcessesThatSaveAtATimeDamageNothing) {
  save();
  pid_t children[2];
  for (pid_t& child : children) {
    child = fork();
    ASSERT_GE(child, 0);
    if (child != 0) continue;
    for (int i = 0; i < 50; ++i) {
      if (saver.train_and_save(path) != INGOT_OK) _exit(1);
    }
    _exit(0);
  }
  Saver reader(bundle);
  for (const pid_t child : children) {
    int status = 0;
    do {
      EXPECT_TRUE(reader.can_load(path)) << reader.error.text;
    } while (waitpid(child, &status, WNOHANG) == 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(reader.can_load(path) && reader.can_load(previous)) << reader.error.text;
}

TEST_F(EngineSave, NothingIsWrittenThroughAPlantedLink) {
  const std::string victim = directory.file("victim");
  std::ofstream(victim) << "mine";
  fs::create_symlink(victim, path + ".partial0");
  save();
  EXPECT_EQ(file_text(victim), "mine");
  EXPECT_FALSE(fs::is_symlink(path));
}

TEST_F(EngineSave, PermissionsStay) {
  save();
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  const auto mode_of = [](const std::string& file) {
    struct stat status = {};
    EXPECT_EQ(stat(file.c_str(), &status), 0) << file;
    return status.st_mode & 0777;
  };
  before_rename = [&](const char*) { EXPECT_EQ(mode_of(path + ".partial0"), 0600u); };
  save();
  EXPECT_EQ(mode_of(path), 0600u);
  EXPECT_EQ(mode_of(previous), 0600u);
}

TEST_F(EngineSave, ALinkStaysALink) {
  fs::create_directory(directory.file("big"));
  const std::string real = directory.file("big/real");
  fs::create_symlink("big/real", path);
  expect_failure("cannot follow the link");
  std::ofstream(real) << "something";
  save();
  const std::string first = file_text(real);
  save();
  EXPECT_TRUE(fs::is_symlink(path));
  EXPECT_NE(file_text(real), first);
  EXPECT_EQ(file_text(real + ".previous"), first);

  fs::resize_file(real, 100);
  EXPECT_EQ(ingot_load_state(saver.open.session, path.c_str(), INGOT_LOAD_OR_PREVIOUS, &saver.error), INGOT_OK);
  EXPECT_EQ(saver.error.status, INGOT_BAD_STATE_FILE) << "why the previous file was loaded";
  EXPECT_EQ(ingot_load_state(saver.open.session, (real + ".previous").c_str(), 0, &saver.error), INGOT_OK);
  EXPECT_EQ(saver.error.status, INGOT_OK);
}

TEST_F(EngineSave, WhatCannotTakeItsPlaceIsKept) {
  const std::string old = save();
  fs::create_directories(previous + "/in_the_way");
  for (int i = 0; i < 2; ++i) {
    expect_failure("cannot replace " + path);
    const std::string said = saver.error.text;
    EXPECT_NE(said.find("what was saved is whole in " + path + ".partial"), said.npos) << said;
    EXPECT_EQ(file_text(path), old);
    const std::string kept = said.substr(said.rfind(' ') + 1);
    EXPECT_TRUE(saver.can_load(kept)) << saver.error.text;
    EXPECT_EQ(files().size(), 3u) << "a newer one takes the place of one that was kept";
  }
  fs::remove_all(previous);
  save();
  EXPECT_EQ(files(), (std::set<std::string>{"s", "s.previous"}));
}

TEST_F(EngineSave, WithoutHardLinksAFileIsThereAtEveryInstant) {
  has_hard_links = false;
  const std::string first = save();
  before_rename = [&](const char* to) { EXPECT_TRUE(saver.can_load(path)) << "before " << to << " is replaced"; };
  save();
  EXPECT_EQ(file_text(previous), first);
  const std::string third = save();
  before_rename = nullptr;
  save();
  EXPECT_EQ(file_text(previous), third);
  EXPECT_EQ(files(), (std::set<std::string>{"s", "s.previous"}));
}

TEST_F(EngineSave, WhatAKilledSaverLeftIsRemoved) {
  for (const char* name : {"s.partial0", "s.partial1", "s.partial3"}) std::ofstream(directory.file(name)) << "half";
  const int at_work = open((path + ".partial1").c_str(), O_RDONLY);
  ASSERT_EQ(flock(at_work, LOCK_EX), 0);
  save();
  EXPECT_EQ(files(), (std::set<std::string>{"s", "s.partial1"}));
  close(at_work);
  save();
  save();
  EXPECT_EQ(files(), (std::set<std::string>{"s", "s.previous"}));
}

}  // namespace
}  // namespace ingot::test
