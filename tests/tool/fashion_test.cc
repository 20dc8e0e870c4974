// The demo of Fashion-MNIST: one bundle, of a strict program, by which the application learns the same on every processor.
//   INGOT_CROSS_IMAGES   from how many images it learns on processors that QEMU emulates; by default it does not
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <string>
#include <vector>

#include "tests/support/cross_build.h"
#include "tests/support/environment.h"
#include "tests/support/fashion_images.h"

namespace ingot {
namespace {

constexpr int64_t kBatch = 64;  // of the application

struct Learned {
  std::vector<std::string> losses;  // of each epoch
  std::vector<std::string> shares;  // of images that are right
  std::string state;                // as a file
};

class FashionTest : public testing::Test {
 protected:
  // False where the images are not there.
  bool prepare(int64_t training_images) const {
    const auto write = [&](const std::string& part, int64_t images) {
      return write_fashion_images(folder_.path(), part, images, "gzip -1", part + "-images-idx3-ubyte.gz",
                                  part + "-labels-idx1-ubyte.gz");
    };
    return write("train", training_images) && write("t10k", kBatch);
  }

  Learned learn(const std::string& application, int epochs, int threads) const {
    const std::string command =
        fmt::format("{} --bundle {} --data {} --state {} --epochs {} --threads {}", application,
                    folder_.file("fashion.ingot"), folder_.path().string(), folder_.file("state"), epochs, threads);
    const std::string log = folder_.file("log");
    EXPECT_EQ(std::system(fmt::format("{} >{} 2>&1", command, log).c_str()), 0) << command << "\n" << file_text(log);
    Learned learned{{}, {}, file_text(folder_.file("state"))};
    const std::string text = file_text(log);
    static const std::regex kEpoch("epoch .* loss ([0-9.]+) .* test accuracy ([0-9.]+) %");
    for (std::sregex_iterator it(text.begin(), text.end(), kEpoch), end; it != end; ++it) {
      learned.losses.push_back((*it)[1]);
      learned.shares.push_back((*it)[2]);
    }
    EXPECT_EQ(std::ssize(learned.losses), epochs) << text;
    return learned;
  }

  void compile() const {
    const std::string command = fmt::format("cd {} && INGOT_STRICT=1 INGOT_TARGETS=x86-64-v3,aarch64,riscv64 {}",
                                            folder_.path().string(), INGOT_FASHION_MODEL);
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }

  TemporaryFolder folder_;
};

void expect_same(const Learned& a, const Learned& b) {
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_EQ(a.shares, b.shares);
  EXPECT_TRUE(a.state == b.state) << "states differ";
}

TEST_F(FashionTest, LearnsTheSameOnAnyNumberOfThreads) {
  if (!prepare(3 * kBatch)) GTEST_SKIP() << "missing Debian packages: dataset-fashion-mnist";
  compile();
  constexpr int kEpochs = 4;
  const Learned learned = learn(INGOT_FASHION, kEpochs, 1);
  ASSERT_EQ(learned.losses.size(), kEpochs);
  EXPECT_LT(std::stod(learned.losses.back()), 0.8 * std::stod(learned.losses.front()));
  expect_same(learn(INGOT_FASHION, kEpochs, 3), learned);
}

class FashionCrossTest : public FashionTest, public testing::WithParamInterface<const char*> {};

TEST_P(FashionCrossTest, LearnsWhatThisMachineDoes) {
  const int64_t images = number_from_environment("INGOT_CROSS_IMAGES", 0);
  if (images == 0) GTEST_SKIP() << "takes a minute: INGOT_CROSS_IMAGES is not set";
  const CrossBuild cross(GetParam());
  if (const std::string missing = cross.missing(); !missing.empty()) {
    GTEST_SKIP() << "missing Debian packages:" << missing;
  }
  if (!prepare(images)) GTEST_SKIP() << "missing Debian packages: dataset-fashion-mnist";
  compile();
  cross.build("fashion");
  ASSERT_FALSE(HasFailure());
  const std::string application = fmt::format("{} {}", cross.emulator(), cross.path("apps/fashion/fashion"));
  const Learned here = learn(INGOT_FASHION, 1, 1);
  expect_same(learn(application, 1, 2), here);
  fmt::print("  {} images: loss {}, {} % of others right\n", images, here.losses.at(0), here.shares.at(0));
}

INSTANTIATE_TEST_SUITE_P(Isas, FashionCrossTest, testing::Values("aarch64", "riscv64"));

}  // namespace
}  // namespace ingot
