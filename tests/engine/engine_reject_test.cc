// Bundles that are cut, changed, too new or hostile: each is refused with its own status, or stays within its memory.
#include <gtest/gtest.h>

#include <fstream>

#include "aot/base/error.h"
#include "aot/bundle/read_bundle.h"
#include "schema/kernel_abi.h"
#include "tests/engine/engine_fixture.h"
#include "tests/engine/engine_kernels.h"

namespace ingot::test {
namespace {

using Bytes = std::vector<std::byte>;

ingot_status open_status(const Bytes& file) { return OpenBundle(file).status; }

TEST(EngineReject, NotABundle) {
  EXPECT_EQ(open_status({}), INGOT_NOT_A_BUNDLE);
  EXPECT_EQ(open_status(Bytes(1000, std::byte{7})), INGOT_NOT_A_BUNDLE);
  EXPECT_EQ(open_status(Bytes(3, std::byte{0x89})), INGOT_NOT_A_BUNDLE);
}

TEST(EngineReject, EveryTruncation) {
  const Bytes good = bundle::write_bundle(fit_spec());
  for (size_t length = 0; length < good.size(); length += length < 4096 ? 1 : 173) {
    const ingot_status status = open_status(Bytes(good.begin(), good.begin() + static_cast<ptrdiff_t>(length)));
    EXPECT_EQ(status, length < 8 ? INGOT_NOT_A_BUNDLE : INGOT_TRUNCATED) << length;
  }
}

TEST(EngineReject, EveryFlippedBitOfHeaderCodeAndData) {
  const Bytes good = bundle::write_bundle(fit_spec());
  const ingot_bundle_header header = header_of(good);
  const auto flipped = [&](size_t byte, int bit) {
    Bytes bad = good;
    bad[byte] ^= std::byte(1 << bit);
    return open_status(bad);
  };
  for (size_t byte = 0; byte < 64; ++byte) {
    for (int bit = 0; bit < 8; ++bit) EXPECT_EQ(flipped(byte, bit), byte < 8 ? INGOT_NOT_A_BUNDLE : INGOT_DAMAGED);
  }
  for (size_t byte = 64; byte < 64 + header.metadata_bytes; byte += 5) EXPECT_EQ(flipped(byte, 3), INGOT_DAMAGED);
  // Behind the metadata: padding between segments may change, segments may not.
  int damaged = 0;
  for (size_t byte = 64 + header.metadata_bytes; byte < good.size(); byte += 7) {
    const ingot_status status = flipped(byte, 5);
    EXPECT_TRUE(status == INGOT_OK || status == INGOT_DAMAGED) << byte;
    damaged += status == INGOT_DAMAGED;
  }
  EXPECT_GT(damaged, 500);
}

TEST(EngineReject, OtherVersions) {
  const Bytes good = bundle::write_bundle(fit_spec());
  ingot_bundle_header header = header_of(good);
  header.format_major = 2;
  header.format_minor = 0;
  const OpenBundle newer(with_header(good, header));
  EXPECT_EQ(newer.status, INGOT_WRONG_VERSION);
  EXPECT_STREQ(
      newer.error.text,
      "bundle has format 2.0 and kernel ABI 1; this engine reads format 1 and kernel ABI 1: compile the bundle "
      "anew or update the engine");
  header = header_of(good);
  header.kernel_abi_version = 9;
  EXPECT_EQ(open_status(with_header(good, header)), INGOT_WRONG_VERSION);
  header = header_of(good);
  header.format_minor = 7;  // a later minor version that requires nothing new
  EXPECT_EQ(open_status(with_header(good, header)), INGOT_OK);
}

TEST(EngineReject, NamesAreTextThatATerminalMayShow) {
  const std::vector<std::function<std::string&(bundle::BundleSpec&)>> places = {
      [](auto& spec) -> auto& { return spec.name; },
      [](auto& spec) -> auto& { return spec.producer; },
      [](auto& spec) -> auto& { return spec.entries[kTrainStep].name; },
      [](auto& spec) -> auto& { return spec.entries[kTrainStep].inputs[0].name; },
      [](auto& spec) -> auto& { return spec.entries[kTrainStep].outputs[0].name; },
      [](auto& spec) -> auto& { return spec.states[kStep].tensor.name; },
      [](auto& spec) -> auto& { return spec.states[kStep].role; },
      [](auto& spec) -> auto& { return spec.targets[0].name; },
      [](auto& spec) -> auto& { return spec.targets[0].kernels[0].name; },
  };
  const auto status_with = [&](size_t place, const std::string& name) {
    bundle::BundleSpec spec = fit_spec();
    places[place](spec) = name;
    const Bytes file = bundle::write_bundle(spec);
    const ingot_status status = open_status(file);
    if (status == INGOT_OK) {
      EXPECT_EQ(places[place](spec = bundle::read_bundle(file)), name);
    } else {
      EXPECT_THROW(bundle::read_bundle(file), Error) << name;
    }
    return status;
  };
  for (size_t place = 0; place < places.size(); ++place) {
    EXPECT_EQ(status_with(place, "a/b.c \"\\ caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82 \xc2\xa0"), INGOT_OK) << place;
    for (const char* name : {"\x1b[31mred", "two\nlines", "\x7f", "\xff", "p\x80",
                             "\xc2\x9b"
                             "31m",
                             "\xc2", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf0\x80\x80\xaf", "\xf4\x90\x80\x80",
                             "\xf8\x88\x80\x80\x80", "\xe2\x82", "\xe2(\xa1"}) {
      EXPECT_EQ(status_with(place, name), INGOT_BAD_METADATA) << place << " " << name;
    }
  }
  EXPECT_EQ(status_with(kStep, std::string(1024, 'n')), INGOT_OK);
  EXPECT_EQ(status_with(kStep, std::string(1025, 'n')), INGOT_BAD_METADATA);
  bundle::BundleSpec spec = fit_spec();
  spec.states[kStep].tensor.name = "__metadata__";
  EXPECT_EQ(open_status(bundle::write_bundle(spec)), INGOT_BAD_METADATA) << "no state file could have it";
}

TEST(EngineReject, DimensionsAndPortsAreLimited) {
  const auto status_with = [](size_t rank, size_t output_count) {
    bundle::BundleSpec spec = fit_spec();
    spec.states[kStep].tensor.dims.assign(rank, 1);
    for (size_t i = 1; i < output_count; ++i) {
      spec.entries[kTrainStep].outputs.push_back({"o" + std::to_string(i), INGOT_F32, {0}});
    }
    return open_status(bundle::write_bundle(spec));
  };
  EXPECT_EQ(status_with(64, 1), INGOT_OK);
  EXPECT_EQ(status_with(65, 1), INGOT_BAD_METADATA);
  EXPECT_EQ(status_with(0, 4097), INGOT_BAD_METADATA);
}

TEST(EngineReject, AnUnknownRequiredFeatureIsNamed) {
  bundle::BundleSpec spec = fit_spec();
  spec.required_features = {"shape_buckets"};
  const OpenBundle bundle(bundle::write_bundle(spec));
  EXPECT_EQ(bundle.status, INGOT_UNKNOWN_FEATURE);
  EXPECT_STREQ(bundle.error.text, "the bundle requires 'shape_buckets', which this engine does not have: update it");
}

TEST(EngineReject, SegmentsOfUnknownKindsArePassedBy) {
  bundle::BundleSpec spec = fit_spec();
  bundle::Target other = spec.targets[0];
  other.isa = "z80";
  other.rodata.push_back(std::byte{1});
  spec.targets.push_back(other);
  Bytes file = bundle::write_bundle(spec);
  // The read-only data of a target that is not run here: stored as only a later version knows.
  ingot_segment_record& segment = segments_of(file)[3];
  ASSERT_EQ(segment.kind, INGOT_SEGMENT_RODATA);
  segment.compression = 77;
  segment.bytes = segment.stored_bytes * 2;
  EXPECT_EQ(open_status(resealed(file)), INGOT_BAD_METADATA);
  segment.kind = 99;
  EXPECT_EQ(open_status(resealed(file)), INGOT_BAD_METADATA) << "a target refers to it";
  forget_rodata(file, 1);
  EXPECT_EQ(open_status(resealed(file)), INGOT_OK);
  segment.kind = INGOT_SEGMENT_RODATA;
  EXPECT_EQ(open_status(resealed(file)), INGOT_BAD_METADATA) << "read-only data is mapped as it is";
  segment.kind = 99;
  segment.stored_bytes = file.size();
  EXPECT_EQ(open_status(resealed(file)), INGOT_BAD_METADATA) << "it leaves the file";
}

TEST(EngineReject, CodeForOtherProcessors) {
  bundle::BundleSpec spec = fit_spec();
  spec.targets[0].isa = "z80";
  EXPECT_EQ(OpenBundle(bundle::write_bundle(spec)).status, INGOT_NO_TARGET);
  spec = fit_spec();
  spec.targets[0].cpu_features.push_back("quantum");
  const OpenBundle unknown(bundle::write_bundle(spec));
  EXPECT_EQ(unknown.status, INGOT_NO_TARGET);
  EXPECT_STREQ(unknown.error.text, "'host' needs 'quantum', which this processor lacks");
  spec.targets[0].cpu_features.back() = std::string(1000, 'q');
  const OpenBundle endless(bundle::write_bundle(spec));
  EXPECT_EQ(endless.error.text, "'host' needs '" + std::string(60, 'q') + "', which this processor lacks");
}

TEST(EngineReject, TheFirstTargetThatFitsIsPicked) {
  bundle::BundleSpec spec = fit_spec();
  bundle::Target better = spec.targets[0], worse = spec.targets[0];
  better.name = "better";
  better.cpu_features.push_back("quantum");
  worse.name = "worse";
  spec.targets = {better, spec.targets[0], worse};
  const Bytes file = bundle::write_bundle(spec);
  const auto picked = [&](const char* wanted) {
    ingot_open_options options = {};
    options.target = wanted;
    const OpenBundle bundle(file, &options);
    if (bundle.status != INGOT_OK) return std::string(bundle.error.text);
    ingot_bundle_info info;
    ingot_get_bundle_info(bundle.bundle, &info);
    return std::string(info.target);
  };
  EXPECT_EQ(picked(nullptr), "host");
  EXPECT_EQ(picked("worse"), "worse");
  EXPECT_EQ(picked("better"), "'better' needs 'quantum', which this processor lacks");
  EXPECT_EQ(picked("best"), "the bundle has no target named best");
}

TEST(EngineReject, EveryTargetThatDoesNotFitIsNamed) {
  bundle::BundleSpec spec = fit_spec();
  bundle::Target best = spec.targets[0], other = spec.targets[0];
  best.name = "best";
  best.cpu_features.push_back("quantum");
  other.name = "other";
  other.isa = "z80";
  spec.targets = {best, other};
  const OpenBundle bundle(bundle::write_bundle(spec));
  EXPECT_EQ(bundle.status, INGOT_NO_TARGET);
  const std::string here = host_target().isa;
  EXPECT_EQ(bundle.error.text,
            "'best' needs 'quantum', which this processor lacks; 'other' is code for z80, which this "
            "processor (" +
                here + ") is not");
  for (int i = 0; i < 100; ++i) spec.targets.push_back(best);
  const OpenBundle many(bundle::write_bundle(spec));
  EXPECT_EQ(many.status, INGOT_NO_TARGET);
  EXPECT_EQ(std::string(many.error.text).substr(0, std::strlen(bundle.error.text)), bundle.error.text);
  EXPECT_EQ(std::strlen(many.error.text), sizeof many.error.text - 1);
}

// Of the code that one bundle has for processors of one kind, the engine takes what the processor has instructions for.
TEST(EngineReject, FeaturesOfTheProcessorChoose) {
  bundle::BundleSpec spec = fit_spec();
  const bundle::Target plain = spec.targets[0];
  spec.targets.clear();
  const std::vector<std::pair<std::string, std::vector<std::string>>> rows = {
      {"x86-64-v4-vnni", {"avx2", "avx512f", "avx512vnni"}},
      {"x86-64-v4", {"avx2", "avx512f"}},
      {"x86-64-v3", {"avx2"}},
      {"plain", {}}};
  for (const auto& [name, features] : rows) {
    spec.targets.push_back(plain);
    spec.targets.back().name = name;
    spec.targets.back().cpu_features = features;
  }
#if defined(__x86_64__)
  const char* const wanted = __builtin_cpu_supports("avx512vnni") ? "x86-64-v4-vnni"
                             : __builtin_cpu_supports("avx512f")  ? "x86-64-v4"
                             : __builtin_cpu_supports("avx2")     ? "x86-64-v3"
                                                                  : "plain";
#else
  const char* const wanted = "plain";
#endif
  const OpenBundle bundle(bundle::write_bundle(spec));
  ASSERT_EQ(bundle.status, INGOT_OK) << bundle.error.text;
  ingot_bundle_info info;
  ingot_get_bundle_info(bundle.bundle, &info);
  EXPECT_STREQ(info.target, wanted);
}

TEST(EngineReject, TheHostMayRefuseCode) {
  ingot_open_options options = {};
  uint64_t seen_bytes = 0;
  options.code_check_user = &seen_bytes;
  options.code_check = [](void* user, const void*, uint64_t byte_count) {
    *static_cast<uint64_t*>(user) = byte_count;
    return int32_t{1};
  };
  const Bytes file = bundle::write_bundle(fit_spec());
  EXPECT_EQ(OpenBundle(file, &options).status, INGOT_CODE_REFUSED);
  EXPECT_GT(seen_bytes, 4096u);
}

// One change to the program's plan, and what the engine says to it.
struct BadPlan {
  const char* name;
  const char* text;
  void (*change)(bundle::BundleSpec& spec);
};

bundle::Plan& train(bundle::BundleSpec& spec) { return spec.targets[0].plans[kTrainStep]; }

const BadPlan kBadPlans[] = {
    {"operand_behind_its_buffer", "step 1: an operand reaches outside its place",
     [](auto& s) { train(s).steps[1].operands[3].offset_bytes += 64; }},
    {"operand_before_its_buffer", "step 1: an operand reaches outside its place",
     [](auto& s) { train(s).steps[1].operands[3].offset_bytes -= 64; }},
    {"operand_wraps_around", "step 1: an operand reaches outside its place",
     [](auto& s) { train(s).steps[1].operands[3].offset_bytes = ~uint64_t{63}; }},
    {"operand_misaligned", "step 0: an operand is not aligned",
     [](auto& s) { train(s).steps[0].operands[2].offset_bytes = 4; }},
    {"buffer_outside_arena", "step 1: a buffer's lifetime or place is impossible",
     [](auto& s) { train(s).buffers[1].offset_bytes += 64; }},
    {"arena_too_small", "step 1: a buffer's lifetime or place is impossible",
     [](auto& s) { train(s).arena_bytes -= 64, train(s).lower_bound_bytes = 0; }},
    {"buffer_misaligned", "step 1: a buffer's lifetime or place is impossible",
     [](auto& s) { train(s).buffers[1].offset_bytes -= 32, train(s).buffers[1].bytes = 32; }},
    {"lower_bound_above_arena", "step 0: the lower bound is above the arena's size",
     [](auto& s) { train(s).lower_bound_bytes += 1; }},
    {"live_buffers_overlap", "step 1: two live buffers overlap",
     [](auto& s) { train(s).buffers[2].in_place_of = std::nullopt; }},
    {"live_buffers_overlap_by_one_block", "step 1: two live buffers overlap",
     [](auto& s) {
       train(s).buffers[1].offset_bytes -= 64;
       train(s).steps[1].operands[3].offset_bytes -= 64;
       train(s).steps[2].operands[0].offset_bytes -= 64;
     }},
    {"in_place_of_what_lives_on", "step 1: a buffer stands in place of one that does not end there",
     [](auto& s) { train(s).buffers[0].last_step = 2; }},
    {"used_after_its_life", "step 3: a buffer is used outside its life",
     [](auto& s) { train(s).buffers[2].last_step = 2; }},
    {"used_before_its_life", "step 0: a buffer is used outside its life",
     [](auto& s) { train(s).steps[0].operands[2].index = 2; }},
    {"starts_after_the_end", "step 5: a buffer starts after the last step",
     [](auto& s) { train(s).buffers.push_back({0, 64, 99, 99, std::nullopt}); }},
    {"ends_before_it_starts", "step 1: a buffer's lifetime or place is impossible",
     [](auto& s) { train(s).buffers[1].last_step = 0; }},
    {"read_before_written", "step 0: it reads what no step has written",
     [](auto& s) { train(s).steps[0].operands[0] = train(s).steps[0].operands[2]; }},
    {"barrier_missing_before_a_read", "step 1: it reads what a step beside it writes: a barrier is missing",
     [](auto& s) {
       // h and d apart, so that nothing is in place
       train(s).arena_bytes += 4096;
       train(s).buffers[2].in_place_of = std::nullopt;
       train(s).buffers[2].offset_bytes = train(s).steps[1].operands[2].offset_bytes =
           train(s).steps[3].operands[0].offset_bytes = 4096 + 64;
       train(s).steps[1].barrier = false;
     }},
    {"barrier_missing_before_in_place", "step 1: a buffer stands in place of one that steps beside it touch",
     [](auto& s) { train(s).steps[1].barrier = false; }},
    {"barrier_missing_before_a_write",
     "step 3: it writes what a step beside it, or another of its own operands, touches",
     [](auto& s) {
       train(s).steps[2] = s.targets[0].plans[kPredict].steps[0];  // reads the weights that update writes
       train(s).steps[2].operands[2] = train(s).steps[0].operands[2];
       train(s).steps[2].operands[2].index = 2;
       train(s).steps[2].barrier = true;
       train(s).steps[3].operands[0] = train(s).steps[3].operands[1];
     }},
    {"input_written", "step 0: it writes what is read only",
     [](auto& s) { train(s).steps[0].operands[2] = {INGOT_BASE_IO + 1, 0, 0}; }},
    {"rodata_written", "step 4: it writes what is read only",
     [](auto& s) { train(s).steps[4].operands[1] = {INGOT_BASE_RODATA, 64, 0}; }},
    {"rodata_overrun", "step 4: an operand reaches outside its place",
     [](auto& s) { train(s).steps[4].operands[0].offset_bytes = 128; }},
    {"state_overrun", "step 4: an operand reaches outside its place",
     [](auto& s) { train(s).steps[4].operands[1].offset_bytes += 64; }},
    {"state_of_another_name", "step 4: an operand reaches outside its place",
     [](auto& s) { train(s).steps[4].operands[1].index = kWeight; }},
    {"output_overrun", "step 2: an operand reaches outside its place",
     [](auto& s) { train(s).steps[2].operands[1].offset_bytes = 64; }},
    {"output_never_written", "step 5: an output is not written whole",
     [](auto& s) {
       train(s).steps[2].operands[1] = {INGOT_BASE_STATE, 4096, kStep};
       train(s).steps[4].barrier = true;
     }},
};

TEST(EngineReject, BadPlans) {
  for (const BadPlan& bad : kBadPlans) {
    bundle::BundleSpec spec = fit_spec();
    bad.change(spec);
    const OpenBundle bundle(bundle::write_bundle(spec));
    EXPECT_STREQ(bundle.error.text, bad.text) << bad.name;
    if (bundle.status == INGOT_OK) ADD_FAILURE() << bad.name << " was accepted";
  }
}

}  // namespace
}  // namespace ingot::test
