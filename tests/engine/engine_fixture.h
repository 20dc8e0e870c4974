// A small training program as a bundle, made by hand, and the memory to run it in.
//
//   init(seed i32)                                    fill_weights -> model.fit.weight
//   train_step(x, y f32[1024], lr f32) -> loss f32    multiply, difference (in place), total, update, count
//   predict(x) -> y                                   multiply
#pragma once

#include <gtest/gtest.h>
#include <ingot/engine.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "aot/bundle/bundle.h"
#include "schema/bundle_header.h"
#include "schema/kernel_abi.h"
#include "tests/support/temporary_folder.h"

namespace ingot::test {

enum FitKernel : uint32_t { kFill, kMultiply, kDifference, kTotal, kUpdate, kCount };
enum FitEntry : uint32_t { kInit, kTrainStep, kPredict };
enum FitState : uint32_t { kWeight, kStep, kBias };

// The program above, for the processor that the test runs on.
bundle::BundleSpec fit_spec();

// A target of that processor with the code of all of engine_kernels.h, and a kernel of it.
bundle::Target host_target();
bundle::Kernel host_kernel(const char* name, ingot_kernel function, uint32_t task_count,
                           std::vector<bundle::Parameter> parameters);

ingot_bundle_header header_of(const std::vector<std::byte>& file);

// A bundle with its header, or with the checksum of its metadata, put right: as by one who means to deceive.
std::vector<std::byte> with_header(std::vector<std::byte> file, ingot_bundle_header header);
std::vector<std::byte> resealed(const std::vector<std::byte>& file);

// The segments in its metadata, to be changed: code, read-only data of each target, then initial state.
std::span<ingot_segment_record> segments_of(std::vector<std::byte>& file);

// Leaves that segment in the file, but refers to it no more.
void forget_rodata(std::vector<std::byte>& file, uint32_t target);

// Memory at a multiple of 64 (or more), of exactly so many bytes.
class Block {
 public:
  explicit Block(uint64_t byte_count, uint64_t alignment_bytes = 64);
  void* data() const { return data_.get(); }
  uint64_t size() const { return byte_count_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_.get());
  }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> data_;
  uint64_t byte_count_;
};

// A bundle opened from bytes in memory, or from a file.
struct OpenBundle {
  explicit OpenBundle(const std::vector<std::byte>& bytes, const ingot_open_options* options = nullptr);
  explicit OpenBundle(const std::string& path, const ingot_open_options* options = nullptr);
  ~OpenBundle() { ingot_close(bundle); }
  OpenBundle(const OpenBundle&) = delete;
  OpenBundle& operator=(const OpenBundle&) = delete;

  ingot_error error = {};
  ingot_status status = INGOT_OK;
  ingot_requirements needs = {};
  std::unique_ptr<Block> bytes;
  std::unique_ptr<Block> memory;
  ingot_bundle* bundle = nullptr;

 private:
  void open(const std::function<ingot_status()>& probe, const std::function<ingot_status()>& open_it);
};

// A session in blocks of just the required sizes.
struct OpenSession {
  explicit OpenSession(const OpenBundle& from, uint32_t threads = 1);
  ~OpenSession() { ingot_destroy(session); }
  OpenSession(const OpenSession&) = delete;
  OpenSession& operator=(const OpenSession&) = delete;

  ingot_error error = {};
  ingot_status status = INGOT_OK;
  Block instance, arena, state, scratch;
  ingot_session* session = nullptr;
};

// Inputs and outputs of the program above, bound to a session.
struct FitPorts {
  explicit FitPorts(ingot_session* session, bool binds_lr = true);
  Block seed{4}, x{4 * 1024}, y{4 * 1024}, lr{4}, loss{4}, prediction{4 * 1024};
};

// The program above, which can be trained, and a place for its state.
class FitTest : public testing::Test {
 protected:
  FitTest();

  void init_and_train(int steps);
  std::string bytes() const { return {open.state.as<char>(), open.state.size()}; }
  ingot_status load(uint32_t flags = 0) { return load_from(path, flags); }
  ingot_status load_from(const std::string& file, uint32_t flags = 0) {
    return ingot_load_state(open.session, file.c_str(), flags, &error);
  }

  OpenBundle bundle{bundle::write_bundle(fit_spec())};
  OpenSession open{bundle};
  FitPorts ports{open.session};
  TemporaryFolder directory;
  std::string path = directory.file("fit.safetensors");
  ingot_error error = {};
};

// What the engine says to a bundle whose plan it refuses; nothing if it takes it.
std::string refusal(const bundle::BundleSpec& spec);

}  // namespace ingot::test
