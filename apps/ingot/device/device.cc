#include "apps/ingot/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "aot/base/error.h"
#include "aot/base/join.h"
#include "aot/base/safetensors.h"
#include "aot/pipeline/initial_state.h"
#include "apps/ingot/device/keys.h"
#include "apps/ingot/device/tensor_files.h"
#include "apps/ingot/files/file_format.h"
#include "apps/ingot/terminal/names.h"

namespace ingot {
namespace {

template <typename Get>
std::vector<ingot_tensor_info> tensors(uint32_t count, Get get) {
  std::vector<ingot_tensor_info> all;
  for (uint32_t i = 0; i < count; ++i) all.push_back(get(i));
  return all;
}

std::string hint_for(ingot_status status) {
  if (status == INGOT_FILE_FAILED) return "is the path right?";
  if (status == INGOT_NO_TARGET) return "compile it with --target for this one";
  const std::string hint = signature_hint(status);
  return hint.empty() ? "is it what `ingot compile` wrote? Compile it anew" : hint;
}

// A bundle, or what the engine says of it with the file's name and what to do.
engine::Bundle open_bundle(const std::string& path, const std::vector<std::string>& trust) {
  refuse_other_formats(path, Wanted::kBundle);
  const std::vector<ingot_public_key> keys = read_public_keys(trust);
  ingot_trusted_keys trusted = {keys.data(), static_cast<uint32_t>(keys.size())};
  ingot_open_options options = {};
  options.copy_file = 1;  // training goes on for hours: whoever replaces the file does not end it
  if (!keys.empty()) {
    options.bundle_check = ingot_check_signature;
    options.bundle_check_user = &trusted;
  }
  try {
    return engine::Bundle(path, &options);
  } catch (const engine::Failure& failure) {
    const std::string what = failure.what(), hint = hint_for(failure.status());
    throw_error(nullptr, fmt::format("{}{}; {}", what.find(path) == what.npos ? path + ": " : "", what, hint));
  }
}

// What the engine says of a state file, with its name, and the tensor that may be meant.
[[noreturn]] void explain_state_failure(const std::string& path, const std::vector<ingot_tensor_info>& states,
                                        const engine::Failure& failure) {
  const std::string what = failure.what();
  std::string help;
  const size_t begin = what.find('\''), end = what.find('\'', begin + 1);
  if (failure.status() == INGOT_MISSING_TENSOR && end != what.npos) {
    std::vector<std::string> names;
    const SafeTensorsReader file(path);
    for (const auto& array : file.arrays()) names.push_back(array.first);
    help = suggestion(names, what.substr(begin + 1, end - begin - 1), names_of(states));
  }
  throw_error(nullptr, fmt::format("{}{}{}", what.find(path) == what.npos ? path + ": " : "", what, help));
}

}  // namespace

Device::Device(const std::string& path, uint32_t threads, const std::vector<std::string>& trust)
    : path_(path), bundle_(open_bundle(path, trust)), session_(bundle_, threads) {}
Device::Device(std::span<const std::byte> bytes, uint32_t threads) : bundle_(bytes), session_(bundle_, threads) {}

std::vector<ingot_tensor_info> Device::inputs(uint32_t entry) const {
  return tensors(bundle_.entry(entry).input_count, [&](uint32_t i) { return bundle_.input(entry, i); });
}

std::vector<ingot_tensor_info> Device::outputs(uint32_t entry) const {
  return tensors(bundle_.entry(entry).output_count, [&](uint32_t i) { return bundle_.output(entry, i); });
}

std::vector<ingot_tensor_info> Device::states() const {
  return tensors(bundle_.info().state_count, [&](uint32_t i) { return bundle_.state(i); });
}

bool Device::has_entry(const std::string& name) const {
  uint32_t entry = 0;
  return ingot_find_entry(bundle_.get(), name.c_str(), &entry, nullptr) == INGOT_OK;
}

uint32_t Device::find_entry(const std::string& name) const {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < bundle_.info().entry_count; ++i) names.emplace_back(bundle_.entry(i).name);
  return pick_entry(names, name);
}

uint32_t Device::find_input(uint32_t entry, const std::string& name) const {
  try {
    return bundle_.find_input(entry, name);
  } catch (const engine::Failure& failure) {
    std::vector<std::string> names;
    for (const ingot_tensor_info& input : inputs(entry)) names.emplace_back(input.name);
    throw_error(nullptr, failure.what() + suggestion(names, name));
  }
}

Device::Bound Device::bind(uint32_t entry) {
  Bound bound;
  const auto provide = [&](const ingot_tensor_info& tensor, auto bind_function,
                           std::vector<std::span<std::byte>>& spans) {
    engine::AlignedBytes& memory = bound.memory.emplace_back(tensor.bytes, bundle_.needs().alignment_bytes);
    std::fill_n(memory.data(), memory.size(), std::byte{0});
    engine::call(bind_function, session_.get(), entry, static_cast<uint32_t>(spans.size()), memory.data(),
                 memory.size());
    spans.emplace_back(memory.data(), memory.size());
  };
  for (const ingot_tensor_info& input : inputs(entry)) {
    const std::byte* otherwise = bundle_.input_default(entry, static_cast<uint32_t>(bound.inputs.size()));
    provide(input, ingot_bind_input, bound.inputs);
    if (otherwise) std::copy_n(otherwise, input.bytes, bound.inputs.back().data());
  }
  for (const ingot_tensor_info& output : outputs(entry)) provide(output, ingot_bind_output, bound.outputs);
  return bound;
}

void Device::run(uint32_t entry) {
  try {
    engine::call(ingot_run, session_.get(), entry);
  } catch (const engine::Failure& failure) {
    if (failure.status() != INGOT_NOT_INITIALIZED) throw;
    const std::filesystem::path beside = std::filesystem::path(path_).parent_path() / kStateFile;
    throw_error(nullptr,
                fmt::format("{}, by --state {}; zeros by --state {}", failure.what(),
                            std::filesystem::exists(beside) ? beside.string() : "FILE.safetensors", kZeroState));
  }
}

void Device::watch(ingot_trace trace, void* user) { ingot_set_trace(session_.get(), nullptr, trace, user); }

void Device::start_state(const std::string& path, int64_t seed) {
  if (path == kZeroState) {
    write_zeros();
  } else if (!path.empty()) {
    refuse_other_formats(path, Wanted::kTensors);
    if (states().empty()) {
      throw_error(nullptr, fmt::format("--state {}: {} has no state; what the compiler froze is constant: compile with "
                                       "--no-freeze to load weights",
                                       path, path_));
    }
    try {
      engine::call(ingot_load_state, session_.get(), path.c_str(), uint32_t{INGOT_LOAD_IGNORE_UNKNOWN});
    } catch (const engine::Failure& failure) {
      explain_state_failure(path, states(), failure);
    }
  } else if (has_entry("init")) {
    const uint32_t init = find_entry("init");
    const auto seeds = inputs(init);
    const Bound bound = bind(init);
    for (size_t i = 0; i < seeds.size(); ++i) fill_number(seeds[i], static_cast<double>(seed), bound.inputs[i]);
    run(init);
  }
}

void Device::write_zeros() {
  const std::vector<ingot_tensor_info> all = states();
  for (uint32_t i = 0; i < all.size(); ++i) {
    const std::vector<std::byte> zeros(std::max<size_t>(all[i].bytes, 1));
    engine::call(ingot_write_state, session_.get(), i, zeros.data(), all[i].bytes);
  }
}

void Device::save_state(const std::string& path, const std::string& note) const {
  engine::call(ingot_save_state_noted, session_.get(), path.c_str(), note.empty() ? nullptr : note.c_str());
}

std::string Device::load_checkpoint(const std::string& path) {
  constexpr uint64_t kNoteBytesMax = 4096;
  std::string note(kNoteBytesMax, '\0');
  ingot_error error = {};
  if (ingot_load_state_noted(session_.get(), path.c_str(), INGOT_LOAD_OR_PREVIOUS, note.data(), note.size(), &error) !=
      INGOT_OK) {
    throw engine::Failure(error);
  }
  if (error.status != INGOT_OK) fmt::print(stderr, "warning: {}; going on from {}.previous\n", error.text, path);
  return note.c_str();
}

void Device::keep_state() {
  if (!kept_state_.data())
    kept_state_ = engine::AlignedBytes(bundle_.needs().state_bytes, bundle_.needs().alignment_bytes);
  engine::call(ingot_snapshot, session_.get(), kept_state_.data(), kept_state_.size());
}

void Device::restore_state() { engine::call(ingot_rollback, session_.get(), kept_state_.data(), kept_state_.size()); }

}  // namespace ingot
