// From the text of a lowered function to its plan: every tests/golden/plan/*.lowered is a function, the same once every
// result is made where it belongs, and the plan. Its kernels compute nothing: a plan asks what they read and write.
#include "aot/plan/make_plan.h"

#include <gtest/gtest.h>

#include "aot/plan/check_plan.h"
#include "aot/plan/parse_plan.h"
#include "aot/plan/separate_results.h"
#include "aot/schedule/lower_function.h"
#include "tests/support/golden_file.h"
#include "tests/support/state_of.h"

namespace ingot::plan {
namespace {

namespace fs = std::filesystem;

Plan plan_of(lowered::Function separated) {
  lower_copies(separated, loops::find_target("x86-64-v3"));
  const StateTable state = state_of(separated);
  RodataPool rodata;
  KernelTable kernels;
  Plan plan = make_plan(separated, state, rodata, kernels);
  check_plan(plan, state.bytes(), static_cast<int64_t>(rodata.bytes().size()));
  EXPECT_EQ(parse_plan(print(plan)), plan) << print(plan);
  return plan;
}

// Values may be named alike, which a text does not show.
Plan without_names(Plan plan) {
  for (Buffer& buffer : plan.buffers) buffer.name.clear();
  return plan;
}

class MakePlanTest : public testing::TestWithParam<fs::path> {};

TEST_P(MakePlanTest, GivesTheExpectedText) {
  const GoldenFile golden(GetParam());
  lowered::Function function = lowered::parse_function(golden.input(), GetParam().filename());
  const std::string text = print(function);
  EXPECT_TRUE(golden.input().ends_with(text)) << text;  // below what is said of the case
  separate_results(function);
  lowered::verify(function);
  const std::string separated = print(function);
  const Plan plan = plan_of(function);
  golden.expect({{"separated", separated.substr(separated.find("function "))}, {"plan", print(plan)}});

  lowered::Function again = lowered::parse_function(separated);
  EXPECT_EQ(without_names(plan_of(again)), without_names(plan)) << "the text has another plan";
  separate_results(again);
  EXPECT_EQ(print(again), separated) << "not idempotent";
}

INSTANTIATE_TEST_SUITE_P(All, MakePlanTest,
                         testing::ValuesIn(golden_files(fs::path(INGOT_SOURCE_DIR) / "tests/golden/plan", ".lowered")),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace ingot::plan
