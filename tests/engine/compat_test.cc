// A bundle that an earlier compiler made still opens, runs and gives the numbers that it gave then: the guard of the
// compatibility rules in schema/README.md. The bundles in tests/engine/compat were made of the texts beside them, for
// x86-64-v3 (that of 1.4 for aarch64 too, which compat_emulated_test runs, and that of 1.6 for riscv64 as well; flow_1.1 as engine_flow.h makes them), when the
// format in their name was new. So were the state files beside them, by the engine of the day. They are never made anew: what a later format adds gets a
// bundle of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <ingot/engine.hpp>

namespace ingot::engine {
namespace {

using Floats = std::vector<float>;

struct TwoLayersCase {
  const char* bundle;
  Floats losses;
};
const TwoLayersCase kCases[] = {
    {"two_layers_1.0.ingot", {3.27669787f, 0.187173188f, 0.133040115f, 0.130949676f, 0.129229099f}},
    {"two_layers_1.4.ingot", {3.27669811f, 0.187173158f, 0.133040115f, 0.130949676f, 0.129229084f}},
    {"two_layers_1.6.ingot", {3.27669811f, 0.187173158f, 0.133040115f, 0.130949676f, 0.129229084f}},  // strict
};
const Floats kW1 = {0.149006665f, -0.376075298f, -0.932602882f,  -1.46617687f, -1.98136342f,  -2.48878717f,
                    -2.99294186f, -3.49547863f,  -0.0270689912f, 0.208147883f, 0.455189973f,  0.714960754f,
                    0.974611044f, 1.23193645f,   1.48721743f,    1.74097276f,  0.0535271578f, 0.186047062f,
                    0.31951648f,  0.434056282f,  0.54400456f,    0.656029165f, 0.771346629f,  0.889520526f};
const Floats kW2 = {0.239147261f,   0.23786436f,    0.142400056f,    0.081047073f,  0.0860086381f, -0.0239553582f,
                    0.0530709922f,  -0.0999032259f, 0.0314310007f,   -0.155482695f, 0.0163975451f, -0.195935935f,
                    0.00579356402f, -0.225036442f,  -0.00167917158f, -0.245737821f};
const Floats kScores = {0.194775119f,   -0.941434443f, -0.206079692f,  0.940275908f, -0.21555908f,  0.928525984f,
                        -0.225032225f,  0.916383266f,  -0.0580858886f, 0.81319803f,  -0.059841536f, 0.759168327f,
                        -0.0608122163f, 0.693022907f,  -0.0609261766f, 0.612045825f};

bool runs_x86_64_v3() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("x86-64-v3");
#else
  return false;
#endif
}

void expect_trained(const Session& session) {
  EXPECT_EQ(session.read<float>("w1"), kW1);
  EXPECT_EQ(session.read<float>("w2"), kW2);
  EXPECT_EQ(session.read<int32_t>("step"), std::vector<int32_t>{5});
}

class TwoLayers : public testing::TestWithParam<TwoLayersCase> {};

TEST_P(TwoLayers, GiveTheirNumbers) {
  if (!runs_x86_64_v3()) GTEST_SKIP() << "the bundle is for x86-64-v3, which this processor is not";
  const Bundle bundle(std::string(INGOT_SOURCE_DIR "/tests/engine/compat/") + GetParam().bundle);
  Session session(bundle);
  session.entry("init").run();

  // Points of two classes, the same in every step.
  Floats points;
  for (int i = 0; i < 24; ++i) points.push_back(static_cast<float>(i * 7 % 11) * 0.25f - 1);
  const Entry train_step = session.entry("train_step"), predict = session.entry("predict");
  std::ranges::copy(points, train_step.input<float>("x").begin());
  std::ranges::copy(points, predict.input<float>("x").begin());
  for (int i = 0; i < 8; ++i) train_step.input<int32_t>("label")[i] = points[3 * i] > points[3 * i + 1];
  train_step.input<float>("lr")[0] = 0.5f;

  Floats losses;
  for (size_t step = 0; step < GetParam().losses.size(); ++step) {
    train_step.run();
    losses.push_back(train_step.output<float>("loss")[0]);
  }
  predict.run();
  const auto scores = predict.output<float>("scores");
  EXPECT_EQ(losses, GetParam().losses);
  EXPECT_EQ(Floats(scores.begin(), scores.end()), kScores);
  expect_trained(session);

  Session loaded(bundle);
  loaded.load(INGOT_SOURCE_DIR "/tests/engine/compat/two_layers_1.0.safetensors");
  expect_trained(loaded);
}
INSTANTIATE_TEST_SUITE_P(Compat, TwoLayers, testing::ValuesIn(kCases));

// Of kernels written by hand, for any processor of its architecture: format 1.1 had a loop around branches.
TEST(Compat, ABundleOfFormat11LoopsAndBranches) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the bundle is for x86-64";
#endif
  const Bundle bundle(INGOT_SOURCE_DIR "/tests/engine/compat/flow_1.1.ingot");
  for (const uint32_t threads : {1, 3}) {
    Session session(bundle, threads);
    const Entry flow = session.entry("flow");
    for (uint32_t i = 0; i < 64; ++i) flow.input<uint32_t>("x")[i] = 0x9E3779B9u * (i + 1);
    flow.input<uint32_t>("n")[0] = 7;
    flow.run();
    const auto row = flow.output<uint32_t>("y").subspan(3 * 64, 4);
    EXPECT_EQ(std::vector<uint32_t>(row.begin(), row.end()),
              (std::vector<uint32_t>{1449514531, 3974435412, 1130647173, 3655568054}));
  }
}

TEST(Compat, ABundleOfFormat12LoopsAndHasDefaults) {
  if (!runs_x86_64_v3()) GTEST_SKIP() << "the bundle is for x86-64-v3, which this processor is not";
  const Bundle bundle(INGOT_SOURCE_DIR "/tests/engine/compat/loop_with_default_1.2.ingot");
  Session session(bundle);
  EXPECT_EQ(session.read<float>("total"), Floats{10});
  const Entry decay = session.entry("decay");
  std::ranges::copy(Floats{0.5f, -1, 1.5f, 2}, decay.input<float>("x").begin());
  decay.input<int32_t>("rounds")[0] = 3;
  const auto run = [&] {
    decay.run();
    const auto y = decay.output<float>("y");
    return Floats(y.begin(), y.end());
  };
  EXPECT_EQ(run(), (Floats{0.202046275f, -0.358758181f, 0.452590376f, 0.488349319f}));
  EXPECT_EQ(session.read<float>("total"), Floats{10.7842274f});
  Session loaded(bundle);
  loaded.load(INGOT_SOURCE_DIR "/tests/engine/compat/loop_with_default_1.2.safetensors");
  EXPECT_EQ(loaded.read<float>("total"), Floats{10.7842274f});
  decay.input<float>("decay")[0] = 0.5f;
  EXPECT_EQ(run(), (Floats{0.0616542436f, -0.118433185f, 0.166352764f, 0.202799469f}));
}

TEST(Compat, ABundleOfFormat13HasCallsForTools) {
  if (!runs_x86_64_v3()) GTEST_SKIP() << "the bundle is for x86-64-v3, which this processor is not";
  const Bundle bundle(INGOT_SOURCE_DIR "/tests/engine/compat/calls_1.3.ingot");
  Session session(bundle);
  Floats weights;
  for (int i = 0; i < 16; ++i) weights.push_back(static_cast<float>(i * 5 % 7) * 0.125f - 0.25f);
  session.load(INGOT_SOURCE_DIR "/tests/engine/compat/calls_1.3.safetensors");
  EXPECT_EQ(session.read<float>("w"), weights);
  const Entry predict = session.entry("predict");
  for (int i = 0; i < 24; ++i) predict.input<float>("x")[i] = static_cast<float>(i * 7 % 11) * 0.0625f - 0.25f;
  predict.run();
  const auto y = predict.output<float>("y");
  EXPECT_EQ(Floats(y.begin(), y.end()),
            (Floats{0.177778259f, -0.244918659f, 0.215326324f, 0, 0.0857265666f, 0.0779664442f}));
}

TEST(Compat, ABundleOfFormat15KnowsWhatIsConstant) {
  if (!runs_x86_64_v3()) GTEST_SKIP() << "the bundle is for x86-64-v3, which this processor is not";
  const Bundle bundle(INGOT_SOURCE_DIR "/tests/engine/compat/frozen_1.5.ingot");
  Session session(bundle);
  session.load(INGOT_SOURCE_DIR "/tests/engine/compat/frozen_1.5.safetensors");
  const Entry predict = session.entry("predict");
  std::ranges::fill(predict.input<float>("x"), 0.5f);
  predict.run();
  const auto y = predict.output<float>("y");
  EXPECT_EQ(Floats(y.begin(), y.end()), (Floats{-0.125f, 0.25f, 0.625f, -0.125f, 0.25f, 0.625f}));
  EXPECT_EQ(session.read<int32_t>("rows"), std::vector<int32_t>{12});
  try {
    session.load(INGOT_SOURCE_DIR "/tests/engine/compat/calls_1.3.safetensors", INGOT_LOAD_IGNORE_UNKNOWN);
    ADD_FAILURE() << "another program's w was loaded";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), INGOT_WRONG_TYPE) << failure.what();
  }
}

}  // namespace
}  // namespace ingot::engine
