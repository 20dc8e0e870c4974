#include "apps/ingot/device/checkpoint.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "aot/base/error.h"
#include "aot/base/file.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

// Two bundles that differ have two of them.
std::string identity(const Device& device, uint32_t entry) {
  const ingot_bundle_info info = device.bundle().info();
  return fmt::format("{} {} {:016x}", info.name, device.bundle().entry(entry).name, info.checksum);
}

// Tries what the engine will do to save.
void check_place(const std::string& path) {
  const fs::path place = fs::is_symlink(path) ? fs::canonical(path) : fs::path(path);
  if (fs::is_directory(place.string() + ".previous")) {
    throw_error(nullptr, fmt::format("{}.previous is a folder; the file before the last is to have that name", path));
  }
  if (fs::exists(place) && !fs::is_regular_file(place)) {
    throw_error(nullptr, fmt::format("cannot save as {}: it is not a regular file", path));
  }
  WholeFile writable(place.string());
}

}  // namespace

SavePeriod::SavePeriod(const std::string& text) {
  if (text.empty()) return;
  const char* end = text.data() + text.size();
  const bool is_time = text.ends_with('s');
  const auto [rest, error] =
      is_time ? std::from_chars(text.data(), end, seconds_) : std::from_chars(text.data(), end, steps_);
  if (error == std::errc() && rest == end - is_time && (is_time ? seconds_ > 0 : steps_ > 0)) return;
  throw_error(nullptr,
              fmt::format("--save-every {}: expected a number of steps, as in 100, or of seconds, as in 30s", text));
}

bool SavePeriod::is_due(int64_t step) {
  if (steps_ > 0) return step % steps_ == 0;
  const auto now = std::chrono::steady_clock::now();
  if (seconds_ == 0 || now - last_ < std::chrono::duration<double>(seconds_)) return false;
  last_ = now;
  return true;
}

Checkpoint::Checkpoint(Device& device, uint32_t entry, int64_t rows, const std::string& path)
    : device_(device), program_(identity(device, entry)), rows_(rows), path_(path) {
  if (!path.empty()) check_place(path);
}

bool Checkpoint::is_there() const { return fs::exists(path_) || fs::exists(path_ + ".previous"); }

void Checkpoint::save(int64_t step) {
  if (path_.empty() || step == saved_step_) return;
  device_.save_state(path_, nlohmann::json{{"program", program_}, {"step", step}, {"rows", rows_}}.dump());
  saved_step_ = step;
}

int64_t Checkpoint::resume() {
  const nlohmann::json note = nlohmann::json::parse(device_.load_checkpoint(path_), nullptr, false);
  const auto has = [&](const char* key, bool (nlohmann::json::*is)() const noexcept) {
    return note.is_object() && note.contains(key) && (note[key].*is)();
  };
  const bool has_place =
      has("step", &nlohmann::json::is_number_unsigned) && has("rows", &nlohmann::json::is_number_unsigned);
  if (!has_place || !has("program", &nlohmann::json::is_string)) {
    throw_error(nullptr, fmt::format("{}: does not say where its training stands, as what `ingot train --save` writes "
                                     "does; begin a training with it by --state {}",
                                     path_, path_));
  }
  const int64_t rows = note.at("rows");
  if (rows != rows_) {
    throw_error(nullptr, fmt::format("{}: was saved in a training over {} steps of data, but this data has {}; begin "
                                     "another training with it by --state {}",
                                     path_, rows, rows_, path_));
  }
  if (const std::string program = note.at("program"); program != program_) {
    fmt::print(stderr, "warning: {} was saved by another program, {}; this is {}\n", path_, program, program_);
  }
  return saved_step_ = note.at("step");
}

}  // namespace ingot
