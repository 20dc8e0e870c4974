// State files: what is saved can be loaded, by others too; what is damaged is refused; a crash loses nothing.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/engine/engine_fixture.h"
#include "tests/engine/engine_kernels.h"
#include "tests/support/file_text.h"

namespace ingot::test {
namespace {

void write_file(const std::string& path, const std::string& contents) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << contents;
}

// A safetensors file of this header and data.
std::string safetensors(const std::string& header, const std::string& data) {
  const uint64_t header_bytes = header.size();
  return std::string(reinterpret_cast<const char*>(&header_bytes), 8) + header + data;
}

class EngineState : public FitTest {
 protected:
  ingot_status load_text(const std::string& header, const std::string& data, uint32_t flags = 0) {
    write_file(path, safetensors(header, data));
    return load(flags);
  }
};

TEST_F(EngineState, LoadsWhatItSaved) {
  init_and_train(3);
  ASSERT_EQ(ingot_save_state(open.session, path.c_str(), &error), INGOT_OK) << error.text;
  const std::string saved = bytes();
  init_and_train(5);
  EXPECT_NE(bytes(), saved);
  ASSERT_EQ(load(), INGOT_OK) << error.text;
  EXPECT_EQ(bytes(), saved);
}

TEST_F(EngineState, ASavedFileReplacesInit) {
  init_and_train(1);
  ASSERT_EQ(ingot_save_state(open.session, path.c_str(), &error), INGOT_OK) << error.text;
  OpenSession fresh(bundle);
  FitPorts fresh_ports(fresh.session);
  EXPECT_EQ(ingot_run(fresh.session, kTrainStep, &error), INGOT_NOT_INITIALIZED);
  EXPECT_STREQ(error.text, "'model.fit.weight' has no value yet: run 'init' or load a state file first");
  EXPECT_EQ(ingot_save_state(fresh.session, path.c_str(), &error), INGOT_NOT_INITIALIZED);
  ASSERT_EQ(ingot_load_state(fresh.session, path.c_str(), 0, &error), INGOT_OK) << error.text;
  EXPECT_EQ(ingot_run(fresh.session, kTrainStep, &error), INGOT_OK);
}

TEST_F(EngineState, AnotherSessionTakesItWhereItLies) {
  init_and_train(1);
  const std::string before = bytes();
  Block instance(bundle.needs.session_bytes + bundle.needs.session_bytes_per_thread, bundle.needs.alignment_bytes);
  Block scratch(bundle.needs.scratch_bytes_per_thread, bundle.needs.alignment_bytes);
  const ingot_memory memory = {instance.data(),   instance.size(),   open.arena.data(),
                               open.arena.size(), open.state.data(), open.state.size(),
                               scratch.data(),    scratch.size(),    1};
  ingot_session* other = nullptr;
  ASSERT_EQ(ingot_create_with_state(bundle.bundle, &memory, &other, &error), INGOT_OK) << error.text;
  EXPECT_EQ(bytes(), before);
  FitPorts other_ports(other);
  EXPECT_EQ(ingot_run(other, kTrainStep, &error), INGOT_OK) << error.text;
  EXPECT_NE(bytes(), before);
  ingot_destroy(other);
}

TEST_F(EngineState, TheFileIsSafetensors) {
  init_and_train(1);
  ASSERT_EQ(ingot_save_state(open.session, path.c_str(), &error), INGOT_OK) << error.text;
  const std::string file = file_text(path);
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, file.data(), 8);
  EXPECT_EQ((8 + header_bytes) % 64, 0u);
  const auto header = nlohmann::json::parse(file.substr(8, header_bytes));
  EXPECT_EQ(header["model.fit.weight"]["dtype"], "F32");
  EXPECT_EQ(header["model.fit.weight"]["shape"], (std::vector<int>{512, 2}));
  EXPECT_EQ(header["model.fit.weight"]["data_offsets"], (std::vector<int>{0, 4096}));
  EXPECT_EQ(header["optimizer.step"]["dtype"], "I32");
  EXPECT_EQ(header["optimizer.step"]["shape"], std::vector<int>{});
  EXPECT_EQ(header["model.bias"]["dtype"], "BF16");
  EXPECT_EQ(header["model.bias"]["data_offsets"], (std::vector<int>{4100, 4106}));
  EXPECT_EQ(header["__metadata__"]["format"], "pt");
  EXPECT_EQ(file.size(), 8 + header_bytes + 4106);
}

TEST_F(EngineState, EveryTypeHasItsSafetensorsName) {
  bundle::BundleSpec spec;
  spec.entries = {};
  spec.targets = fit_spec().targets;
  spec.targets[0].plans.clear();
  uint64_t offset = 0;
  std::vector<std::string> expected;
#define INGOT_ADD_STATE(NAME, code, bytes, stablehlo, safetensors_name)                      \
  spec.states.push_back({{stablehlo, INGOT_##NAME, {3}}, "", offset, bundle::Start::kZero}); \
  expected.push_back(safetensors_name);                                                      \
  offset += 64;
  INGOT_DTYPES(INGOT_ADD_STATE)
#undef INGOT_ADD_STATE
  spec.state_bytes = offset;
  const OpenBundle types(bundle::write_bundle(spec));
  ASSERT_EQ(types.status, INGOT_OK) << types.error.text;
  const OpenSession session(types);
  ASSERT_EQ(ingot_save_state(session.session, path.c_str(), &error), INGOT_OK) << error.text;
  const std::string file = file_text(path);
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, file.data(), 8);
  const auto header = nlohmann::json::parse(file.substr(8, header_bytes));
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto& tensor = header[spec.states[i].tensor.name];
    EXPECT_EQ(tensor["dtype"], expected[i]);
    const int begin = tensor["data_offsets"][0], end = tensor["data_offsets"][1];
    EXPECT_EQ(begin % ((end - begin) / 3), 0) << expected[i] << " is not aligned";
  }
  EXPECT_EQ(ingot_load_state(session.session, path.c_str(), 0, &error), INGOT_OK) << error.text;
}

TEST_F(EngineState, TwoGenerationsAreKept) {
  init_and_train(1);
  ASSERT_EQ(ingot_save_state(open.session, path.c_str(), &error), INGOT_OK) << error.text;
  const std::string first = file_text(path);
  init_and_train(2);
  ASSERT_EQ(ingot_save_state(open.session, path.c_str(), &error), INGOT_OK) << error.text;
  EXPECT_EQ(file_text(path + ".previous"), first);
  EXPECT_FALSE(std::filesystem::exists(path + ".partial0"));

  // The newer one damaged: refused, unless the older will do.
  std::string damaged = file_text(path);
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  write_file(path, damaged);
  EXPECT_EQ(load(), INGOT_DAMAGED);
  EXPECT_EQ(load(INGOT_LOAD_OR_PREVIOUS), INGOT_OK);
  EXPECT_EQ(error.status, INGOT_DAMAGED) << "why the previous file was loaded";
  int32_t step = 0;
  ingot_read_state(open.session, kStep, &step, sizeof step, nullptr);
  EXPECT_EQ(step, 1);
}

TEST_F(EngineState, AnotherWritersFileLoads) {
  // No checksum, other order, other spacing, an escaped name, an unknown field.
  std::string data(6 + 4096 + 4, '\0');
  data[0] = 'a';
  data[data.size() - 4] = 42;
  const std::string header = R"({ "model\u002ebias" : {"shape":[3], "dtype":"BF16","data_offsets":[0 , 6]},
    "model.fit.weight": {"dtype":"F32","note":{"x":[1,-2.5e3,null]},"shape":[512,2],"data_offsets":[6,4102]},
    "optimizer.step": {"dtype":"I32","shape":[],"data_offsets":[4102,4106]}}   )";
  ASSERT_EQ(load_text(header, data), INGOT_OK) << error.text;
  EXPECT_EQ(open.state.as<char>()[4096 + 64], 'a');
  int32_t step = 0;
  ingot_read_state(open.session, kStep, &step, sizeof step, nullptr);
  EXPECT_EQ(step, 42);
}

TEST_F(EngineState, WhatDoesNotFitIsNamed) {
  init_and_train(1);
  const std::string before = bytes();
  const std::string weight = R"("model.fit.weight":{"dtype":"F32","shape":[512,2],"data_offsets":[0,4096]})";
  const std::string step = R"("optimizer.step":{"dtype":"I32","shape":[],"data_offsets":[0,4]})";
  const std::string data(4096, '\1');
  EXPECT_EQ(load_text("{" + weight + "}", data), INGOT_MISSING_TENSOR);
  EXPECT_STREQ(error.text, "the file lacks 'optimizer.step'");
  EXPECT_EQ(
      load_text("{" + weight + R"(,"old.name":{"dtype":"I32","shape":[],"data_offsets":[4096,4100]}})", data + "1234"),
      INGOT_UNKNOWN_TENSOR);
  EXPECT_STREQ(error.text, "the file has 'old.name', which is no state of the bundle");
  EXPECT_EQ(load_text(R"({"model.fit.weight":{"dtype":"F32","shape":[2,512],"data_offsets":[0,4096]}})", data),
            INGOT_WRONG_TYPE);
  EXPECT_STREQ(error.text, "'model.fit.weight' is F32 [2,512] in the file and F32 [512,2] in the bundle");
  EXPECT_EQ(load_text(R"({"optimizer.step":{"dtype":"U32","shape":[],"data_offsets":[0,4]}})", data), INGOT_WRONG_TYPE);
  EXPECT_STREQ(error.text, "'optimizer.step' is U32 [] in the file and I32 [] in the bundle");
  const std::string other_step = R"("optimizer.step":{"dtype":"I32","shape":[],"data_offsets":[4,8]})";
  EXPECT_EQ(load_text("{" + step + "," + other_step + "}", "12345678"), INGOT_BAD_STATE_FILE);
  EXPECT_STREQ(error.text, "not a well-formed safetensors file: a tensor is listed twice");
  EXPECT_EQ(bytes(), before);

  EXPECT_EQ(load_text("{" + step + "}", std::string("\7\0\0\0", 4), INGOT_LOAD_PARTIAL), INGOT_OK) << error.text;
  EXPECT_EQ(load_text("{" + step + R"(,"z":{"dtype":"F99","shape":[1],"data_offsets":[4,8]}})",
                      std::string("\7\0\0\0abcd", 8), INGOT_LOAD_PARTIAL | INGOT_LOAD_IGNORE_UNKNOWN),
            INGOT_OK)
      << error.text;
  EXPECT_EQ(load(64), INGOT_BAD_ARGUMENT);
}

TEST_F(EngineState, WhatIsConstantMustHaveItsValues) {
  init_and_train(1);
  const std::string before = bytes();
  const auto scale = [&](float first, const std::string& shape, uint32_t flags) {
    const float values[] = {first, 2};
    const std::string header = R"({"model.scale":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[0,8]}})";
    return load_text(header, std::string(reinterpret_cast<const char*>(values), sizeof values), flags);
  };
  const uint32_t ignore = INGOT_LOAD_PARTIAL | INGOT_LOAD_IGNORE_UNKNOWN;
  for (const uint32_t flags : {ignore, uint32_t{INGOT_LOAD_PARTIAL}}) {
    EXPECT_EQ(scale(1, "[2]", flags), INGOT_OK) << error.text;
    EXPECT_EQ(scale(3, "[2]", flags), INGOT_FROZEN_TENSOR);
    EXPECT_STREQ(
        error.text,
        "'model.scale' has other values in the file; the bundle has it as a constant: compile with --no-freeze "
        "to load it");
    EXPECT_EQ(scale(1, "[1,2]", flags), INGOT_WRONG_TYPE);
    EXPECT_STREQ(error.text, "'model.scale' is F32 [1,2] in the file and F32 [2] in the bundle");
  }
  EXPECT_EQ(bytes(), before);
}

TEST_F(EngineState, MalformedFilesAreRefused) {
  init_and_train(1);
  ASSERT_EQ(ingot_save_state(open.session, path.c_str(), &error), INGOT_OK) << error.text;
  const std::string good = file_text(path);
  const std::string before = bytes();
  const std::string damaged_path = directory.file("damaged.safetensors");
  const auto try_load = [&](const std::string& contents) {
    write_file(damaged_path, contents);
    return ingot_load_state(open.session, damaged_path.c_str(), 0, &error);
  };
  for (size_t length = 0; length < good.size(); length += length < 400 ? 5 : 397) {
    EXPECT_NE(try_load(good.substr(0, length)), INGOT_OK) << length;
  }
  for (size_t i = 0; i < good.size(); i += i < 400 ? 3 : 397) {
    for (const int flip : {0x01, 0xa0}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      // Some bytes of the header may change without any loss: the padding, or the metadata's other texts.
      EXPECT_TRUE(try_load(bad) != INGOT_OK || bytes() == before) << i;
    }
  }
  for (const char* header :
       {"", "{", "}", "[]", "{\"a\"}", "{\"a\":{}}", "{\"a\":{\"dtype\":\"F32\"}}", "{,}", "{} x",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,99999999999999999999]}}",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", "{\"\\x\":1}", "{\"__metadata__\":[]}"}) {
    EXPECT_EQ(try_load(safetensors(header, "1234")), INGOT_BAD_STATE_FILE) << header;
  }
  EXPECT_EQ(try_load(std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8)), INGOT_BAD_STATE_FILE);
  EXPECT_EQ(bytes(), before);
}

TEST_F(EngineState, FilesThatCannotBeAreErrors) {
  init_and_train(1);
  EXPECT_EQ(ingot_save_state(open.session, "/nonexistent/dir/x.safetensors", &error), INGOT_FILE_FAILED);
  EXPECT_STREQ(error.text, "cannot create /nonexistent/dir/x.safetensors.partial0: No such file or directory");
  EXPECT_EQ(ingot_load_state(open.session, "/nonexistent/x", 0, &error), INGOT_FILE_FAILED);
  EXPECT_EQ(ingot_load_state(open.session, directory.path().c_str(), 0, &error), INGOT_FILE_FAILED);
  EXPECT_EQ(ingot_save_state(open.session, std::string(5000, 'x').c_str(), &error), INGOT_FILE_FAILED);
  std::filesystem::create_directory(path);
  EXPECT_EQ(ingot_save_state(open.session, path.c_str(), &error), INGOT_FILE_FAILED);
  EXPECT_FALSE(std::filesystem::exists(path + ".partial0"));
}

}  // namespace
}  // namespace ingot::test
