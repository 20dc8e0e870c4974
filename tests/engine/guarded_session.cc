#include "tests/engine/guarded_session.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <random>

#include "aot/base/error.h"
#include "aot/bundle/read_bundle.h"
#include "tests/support/file_text.h"

namespace ingot::test {
namespace {

constexpr std::byte kUntouched{0x5A};
constexpr uint32_t kStepsMax = 20'000;

void store(std::byte* at, uint64_t bits, uint64_t byte_count) { std::memcpy(at, &bits, byte_count); }

template <typename Float>
void store_float(std::byte* at, double value) {
  const auto rounded = static_cast<Float>(value);
  std::memcpy(at, &rounded, sizeof rounded);
}

// Kinds 0 to 6 are named by these tables, 7 and 8 are any numbers and any bits.
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kReals[] = {0, 1e30, -1e30, std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity, 1e-40};

double hostile_real(int kind, uint64_t any) {
  return kind < 7 ? kReals[kind] : static_cast<double>(static_cast<int32_t>(any)) / 1e3;
}

uint64_t hostile_word(int kind, uint64_t any, uint64_t bytes) {
  const uint64_t sign = uint64_t{1} << (8 * bytes - 1);
  const uint64_t words[] = {0, ~uint64_t{0}, sign, sign - 1, ~uint64_t{1}, any % 100, any % 3};
  return kind < 7 ? words[kind] : any;
}

// One element; of a wide complex number, its real part.
void store_hostile(std::byte* at, uint32_t dtype, int kind, uint64_t any) {
  const uint64_t bytes = ingot_dtype_bytes(dtype);
  if (dtype == INGOT_BOOL) {
    store(at, any & 1, 1);
  } else if (dtype == INGOT_F32 && kind < 8) {
    store_float<float>(at, hostile_real(kind, any));
  } else if (dtype == INGOT_F64 && kind < 8) {
    store_float<double>(at, hostile_real(kind, any));
  } else {
    store(at, hostile_word(kind, any, std::min<uint64_t>(bytes, 8)), std::min<uint64_t>(bytes, 8));
  }
}

}  // namespace

Fill ordinary_values() {
  return [](const ingot_tensor_info& tensor, std::byte* data) {
    std::mt19937_64 random(tensor.bytes);
    const uint64_t bytes = ingot_dtype_bytes(tensor.dtype);
    for (uint64_t at = 0; at + bytes <= tensor.bytes; at += bytes) {
      const uint64_t any = random();
      const double real = static_cast<double>(any % 2001) / 1000 - 1;
      if (tensor.dtype == INGOT_F32) {
        store_float<float>(data + at, real);
      } else if (tensor.dtype == INGOT_F64) {
        store_float<double>(data + at, real);
      } else if (tensor.dtype == INGOT_BF16) {
        float wide = static_cast<float>(real);
        std::memcpy(data + at, reinterpret_cast<const std::byte*>(&wide) + 2, 2);
      } else {
        std::memset(data + at, 0, bytes);
        store(data + at, tensor.dtype == INGOT_BOOL ? any % 2 : any % 3, 1);
      }
    }
  };
}

Fill hostile_values(int kind) {
  return [kind](const ingot_tensor_info& tensor, std::byte* data) {
    std::mt19937_64 random(static_cast<uint64_t>(kind) + tensor.bytes);
    const uint64_t bytes = ingot_dtype_bytes(tensor.dtype);
    const bool is_mixed = kind == kHostileKinds - 1;
    for (uint64_t at = 0; at + bytes <= tensor.bytes; at += bytes) {
      store_hostile(data + at, tensor.dtype, is_mixed ? static_cast<int>(random() % 9) : kind, random());
    }
  };
}

GuardedSession::GuardedSession(const OpenBundle& bundle, uint32_t threads)
    : bundle_(bundle.bundle),
      instance_(bundle.needs.session_bytes + threads * bundle.needs.session_bytes_per_thread,
                bundle.needs.alignment_bytes),
      arena_(bundle.needs.arena_bytes, bundle.needs.alignment_bytes),
      state_(bundle.needs.state_bytes, bundle.needs.alignment_bytes),
      scratch_(threads * bundle.needs.scratch_bytes_per_thread, bundle.needs.alignment_bytes) {
  std::memset(arena_.data(), 0xA5, arena_.size());
  const ingot_memory memory = {instance_.data(), instance_.size(), arena_.data(),   arena_.size(), state_.data(),
                               state_.size(),    scratch_.data(),  scratch_.size(), threads};
  ingot_error error = {};
  EXPECT_EQ(ingot_create(bundle_, &memory, &session_, &error), INGOT_OK) << error.text;
  ingot_bundle_info info;
  ingot_get_bundle_info(bundle_, &info);
  states_.resize(info.state_count);
  for (uint32_t i = 0; i < info.state_count; ++i) ingot_get_state_info(bundle_, i, &states_[i], nullptr);
  entries_ = std::vector<Entry>(info.entry_count);
  for (uint32_t entry = 0; entry < info.entry_count; ++entry) {
    ingot_entry_info ports;
    ingot_get_entry_info(bundle_, entry, &ports, nullptr);
    for (uint32_t i = 0; i < ports.output_count; ++i) {
      ingot_tensor_info tensor;
      ingot_get_output_info(bundle_, entry, i, &tensor, nullptr);
      const GuardedBlock& block = entries_[entry].outputs.emplace_back(tensor).block;
      std::fill_n(block.data(), block.size(), kUntouched);
      EXPECT_EQ(ingot_bind_output(session_, entry, i, block.data(), tensor.bytes, nullptr), INGOT_OK);
    }
  }
}

void GuardedSession::fill(uint32_t entry, const Fill& fill) {
  for (uint32_t i = 0; i < states_.size(); ++i) {
    std::vector<std::byte> value(states_[i].bytes);
    fill(states_[i], value.data());
    EXPECT_EQ(ingot_write_state(session_, i, value.data(), value.size(), nullptr), INGOT_OK);
  }
  ingot_entry_info ports;
  ingot_get_entry_info(bundle_, entry, &ports, nullptr);
  std::deque<Port>& inputs = entries_[entry].inputs;
  inputs.clear();
  for (uint32_t i = 0; i < ports.input_count; ++i) {
    ingot_tensor_info tensor;
    ingot_get_input_info(bundle_, entry, i, &tensor, nullptr);
    const GuardedBlock& block = inputs.emplace_back(tensor).block;
    fill(tensor, block.data());
    block.make_read_only();
    EXPECT_EQ(ingot_bind_input(session_, entry, i, block.data(), tensor.bytes, nullptr), INGOT_OK);
  }
}

bool GuardedSession::run(uint32_t entry) {
  int32_t finished = 0;
  ingot_error error = {};
  EXPECT_EQ(ingot_run_slice(session_, entry, kStepsMax, 0, &finished, &error), INGOT_OK) << error.text;
  if (!finished) ingot_abandon_run(session_);
  return finished != 0;
}

std::string GuardedSession::results(uint32_t entry) const {
  std::string all;
  const auto append = [&](const std::byte* data, uint64_t bytes) {
    all.append(reinterpret_cast<const char*>(data), bytes);
  };
  for (const Port& output : entries_[entry].outputs) {
    append(output.block.data(), output.tensor.bytes);
    for (uint64_t i = output.tensor.bytes; i < output.block.size(); ++i) {
      EXPECT_EQ(output.block.data()[i], kUntouched) << output.tensor.name << ": byte " << i << " is behind its end";
    }
  }
  uint64_t end = 0;
  const auto expect_untouched_to = [&](uint64_t begin) {
    for (; end < begin; ++end) EXPECT_EQ(state_.data()[end], std::byte{0}) << "byte " << end << " is of no state";
  };
  for (const ingot_tensor_info& state : states_) {
    expect_untouched_to(state.offset_bytes);
    append(state_.data() + state.offset_bytes, state.bytes);
    end = std::max(end, state.offset_bytes + state.bytes);
  }
  expect_untouched_to(state_.size());
  return all;
}

std::vector<NamedBundle> bundles_to_run() {
  const char* folder = std::getenv("INGOT_BUNDLES");
  std::vector<NamedBundle> found;
  for (const auto& file :
       std::filesystem::directory_iterator(folder ? folder : INGOT_SOURCE_DIR "/tests/engine/compat")) {
    if (file.path().extension() != ".ingot") continue;
    const std::string text = file_text(file.path());
    const auto spec = bundle::read_bundle(std::as_bytes(std::span(text)));
    for (const bundle::Target& target : spec.targets) {
      ingot_open_options options = {};
      options.target = target.name.c_str();
      if (OpenBundle(file.path().string(), &options).status == INGOT_OK) found.push_back({file.path(), target.name});
    }
  }
  std::ranges::sort(found, {}, [](const NamedBundle& b) { return b.path + b.target; });
  return found;
}

}  // namespace ingot::test
