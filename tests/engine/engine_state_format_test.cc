// What a state file must be: the checksum covers all of it, notes go with it, and what no other reader takes is refused.
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>

#include "schema/checksum.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/environment.h"
#include "tests/support/file_text.h"

namespace ingot::test {
namespace {

// Two states that a file could confuse, each of 12 bytes.
bundle::BundleSpec moments_spec() {
  bundle::BundleSpec spec;
  spec.targets = fit_spec().targets;
  spec.targets[0].plans.clear();
  spec.states = {{{"opt.m.w", INGOT_F32, {3}}, "", 0, bundle::Start::kZero},
                 {{"opt.v.w", INGOT_F32, {3}}, "", 64, bundle::Start::kZero}};
  spec.state_bytes = 128;
  return spec;
}

class EngineStateFormat : public testing::Test {
 protected:
  EngineStateFormat() {
    const float values[2][3] = {{1, 2, 3}, {4, 5, 6}};
    for (uint32_t i = 0; i < 2; ++i) {
      EXPECT_EQ(ingot_write_state(open.session, i, values[i], sizeof values[i], nullptr), INGOT_OK);
    }
  }

  std::string saved(const char* note = nullptr) {
    EXPECT_EQ(ingot_save_state_noted(open.session, path.c_str(), note, &error), INGOT_OK) << error.text;
    return file_text(path);
  }

  ingot_status load(const std::string& file, uint32_t flags = 0) {
    std::ofstream(path, std::ios::binary) << file;
    return ingot_load_state(open.session, path.c_str(), flags, &error);
  }

  // Of a header, with the data that it tells of.
  ingot_status load_header(const std::string& header, const std::string& data, uint32_t flags = 0) {
    const uint64_t header_bytes = header.size();
    return load(std::string(reinterpret_cast<const char*>(&header_bytes), 8) + header + data, flags);
  }

  std::string bytes() const { return {open.state.as<char>(), open.state.size()}; }

  OpenBundle bundle{bundle::write_bundle(moments_spec())};
  OpenSession open{bundle};
  TemporaryFolder directory;
  std::string path = directory.file("s.safetensors");
  ingot_error error = {};
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

// Tensors of 12 bytes, one after another, of these names.
std::string header_of(std::vector<std::string> names, const std::string& metadata = "") {
  std::string header = "{" + metadata;
  for (size_t i = 0; i < names.size(); ++i) {
    header += (header.size() > 1 ? "," : "") + ("\"" + names[i]) + R"(":{"dtype":"F32","shape":[3],"data_offsets":[)" +
              std::to_string(12 * i) + "," + std::to_string(12 * i + 12) + "]}";
  }
  return header + "}";
}

TEST_F(EngineStateFormat, TheChecksumCoversNamesShapesAndNotes) {
  const std::string file = saved("at step 5");
  const std::string before = bytes();
  std::string swapped = replaced(replaced(file, "opt.m.w", "opt.?.w"), "opt.v.w", "opt.m.w");
  EXPECT_EQ(load(replaced(swapped, "opt.?.w", "opt.v.w")), INGOT_DAMAGED);
  EXPECT_EQ(load(replaced(file, "step 5", "step 6")), INGOT_DAMAGED);
  EXPECT_EQ(load(replaced(file, "opt.v.w", "opt.x.w"), INGOT_LOAD_PARTIAL | INGOT_LOAD_IGNORE_UNKNOWN), INGOT_DAMAGED);
  EXPECT_EQ(bytes(), before);
  EXPECT_EQ(load(file), INGOT_OK) << error.text;
}

// With no flag, and with all that ask for less: what is loaded is the state that was saved. INGOT_NOTE_BYTES says how much else the file has.
TEST_F(EngineStateFormat, EveryFlippedBitIsRefusedOrHarmless) {
  const std::string note(static_cast<size_t>(number_from_environment("INGOT_NOTE_BYTES", 40)), 'n');
  const std::string good = saved(note.c_str()), before = bytes();
  int refused = 0, harmless = 0;
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    for (const uint32_t flags : {0u, uint32_t{INGOT_LOAD_PARTIAL | INGOT_LOAD_IGNORE_UNKNOWN}}) {
      (load(bad, flags) == INGOT_OK ? harmless : refused) += 1;
      ASSERT_EQ(bytes(), before) << "bit " << bit << ", flags " << flags;
    }
  }
  std::cout << "  " << refused + harmless << " flipped bits: " << refused << " refused, " << harmless << " harmless\n";
  EXPECT_GT(refused, 10 * harmless);
}

TEST_F(EngineStateFormat, NotesGoWithTheState) {
  const std::string text = "{\"step\": 5}\n\x01 \\ caf\xc3\xa9";
  saved(text.c_str());
  char note[64] = "?";
  ASSERT_EQ(ingot_load_state_noted(open.session, path.c_str(), 0, note, sizeof note, &error), INGOT_OK) << error.text;
  EXPECT_EQ(note, text);
  ASSERT_EQ(ingot_load_state_noted(open.session, path.c_str(), 0, note, 8, &error), INGOT_OK);
  EXPECT_STREQ(note, "{\"step\"");
  EXPECT_EQ(ingot_load_state_noted(open.session, path.c_str(), 0, note, 0, &error), INGOT_BAD_ARGUMENT);
  saved();
  ASSERT_EQ(ingot_load_state_noted(open.session, path.c_str(), 0, note, sizeof note, &error), INGOT_OK);
  EXPECT_STREQ(note, "");
}

TEST_F(EngineStateFormat, FilesOfTheFirstVersionsLoad) {
  const std::string data = "abcdefghijklmnopqrstuvwx";
  uint64_t chain = 0;
  for (size_t at = 0; at < data.size(); at += 12) {
    const uint64_t link[2] = {chain, ingot_checksum(data.data() + at, 12)};
    chain = ingot_checksum(link, sizeof link);
  }
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(chain));
  const std::string metadata = R"("__metadata__":{"format":"pt","ingot.checksum":")" + std::string(digits) + "\"}";
  const std::string header = header_of({"opt.m.w", "opt.v.w"}, metadata);
  ASSERT_EQ(load_header(header, data), INGOT_OK) << error.text;
  EXPECT_EQ(bytes().substr(0, 12), "abcdefghijkl");
  EXPECT_EQ(bytes().substr(64, 12), "mnopqrstuvwx");
  EXPECT_EQ(load_header(header, "abcdefghijklmnopqrstuvwX"), INGOT_DAMAGED);
}

TEST_F(EngineStateFormat, WhatNoOtherReaderTakesIsRefused) {
  const std::string before = bytes();
  const std::string data(24, 'x'), header = header_of({"opt.m.w", "opt.v.w"});
  const struct {
    std::string header;
    size_t data_bytes;
  } files[] = {
      {header, 25},                                                                        // a trailing byte
      {replaced(header, "[12,24]", "[0,12]"), 24},                                         // both are the first
      {replaced(header, "[12,24]", "[0,12]"), 12},                                         //
      {replaced(header, "[12,24]", "[8,20]"), 20},                                         // they overlap
      {replaced(header, "[12,24]", "[13,25]"), 25},                                        // a gap
      {replaced(header, "[12,24]", "[12,25]"), 25},                                        // more than the shape
      {replaced(header, "\"shape\":[3]", "\"shape\":[3],\"shape\":[3]"), 24},              // fields twice
      {replaced(header, "\"shape\":[3]", "\"shape\":[],\"shape\":[3]"), 24},               //
      {replaced(header, "\"dtype\":\"F32\"", "\"dtype\":\"F32\",\"dtype\":\"F32\""), 24},  //
      {replaced(header, "[12,24]", "[12,24],\"data_offsets\":[12,24]"), 24},               //
      {replaced(header, "{", R"({"__metadata__":{"a":"b"},"__metadata__":{},)"), 24},
      {replaced(header, "{", R"({"__metadata__":{"ingot.note":"b","ingot.note":"c"},)"), 24},
      {header_of({"opt.m.w", "opt.m.w"}), 24},
  };
  for (const auto& file : files) {
    EXPECT_EQ(
        load_header(file.header, std::string(file.data_bytes, 'x'), INGOT_LOAD_PARTIAL | INGOT_LOAD_IGNORE_UNKNOWN),
        INGOT_BAD_STATE_FILE)
        << file.header;
    EXPECT_EQ(bytes(), before) << file.header;
  }
  EXPECT_EQ(load_header(header, data), INGOT_OK) << error.text;
  const std::string turned = replaced(replaced(header, "[0,12]", "[?]"), "[12,24]", "[0,12]");
  EXPECT_EQ(load_header(replaced(turned, "[?]", "[12,24]"), data), INGOT_OK) << "any order will do: " << error.text;
}

// Many names for the same bytes would be read as often.
TEST_F(EngineStateFormat, UnknownTensorsCannotShareBytes) {
  std::string header = "{";
  for (int i = 0; i < 1000; ++i) {
    header += (i > 0 ? ",\"t" : "\"t") + std::to_string(i) + R"(":{"dtype":"F32","shape":[3],"data_offsets":[0,12]})";
  }
  EXPECT_EQ(load_header(header + "}", std::string(12, 'x'), INGOT_LOAD_PARTIAL | INGOT_LOAD_IGNORE_UNKNOWN),
            INGOT_BAD_STATE_FILE);
  EXPECT_NE(std::string(error.text).find("over others"), std::string::npos) << error.text;
}

}  // namespace
}  // namespace ingot::test
