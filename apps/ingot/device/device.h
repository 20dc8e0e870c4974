// A bundle opened on this machine, with the memory that it asks for: what a device is to the command line.
#pragma once

#include <ingot/engine.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ingot {

// Failures are engine::Failure, or Errors where more can be said.
class Device {
 public:
  // With key files in `trust`, the bundle must be signed by one of these keys.
  Device(const std::string& bundle_path, uint32_t threads, const std::vector<std::string>& trust = {});
  Device(std::span<const std::byte> bytes, uint32_t threads);  // the bytes must stay as long as the device

  const engine::Bundle& bundle() const { return bundle_; }
  std::vector<ingot_tensor_info> inputs(uint32_t entry) const;
  std::vector<ingot_tensor_info> outputs(uint32_t entry) const;
  std::vector<ingot_tensor_info> states() const;

  // By name; an Error suggests another. "" is the only entry, or else "train_step" or "main".
  uint32_t find_entry(const std::string& name) const;
  uint32_t find_input(uint32_t entry, const std::string& name) const;  // or a dotted suffix that only one has
  bool has_entry(const std::string& name) const;

  // Memory for every input and output of an entry, bound to it; inputs have their default values in it, or zeros.
  struct Bound {
    std::vector<engine::AlignedBytes> memory;
    std::vector<std::span<std::byte>> inputs, outputs;  // in the order of the signature
  };
  Bound bind(uint32_t entry);
  void run(uint32_t entry);
  void watch(ingot_trace trace, void* user);  // each step from now on; null: no more

  // First values of the state: from a safetensors file, of which tensors that are no state are left alone; zeros, where
  // `path` is kZeroState; or, where it is empty and the bundle has an entry `init`, by that, with `seed` for its inputs.
  void start_state(const std::string& path, int64_t seed = 0);

  // A checkpoint: the state with a note. Loading takes the previous file where this one is damaged, and says so.
  void save_state(const std::string& path, const std::string& note = "") const;
  std::string load_checkpoint(const std::string& path);  // its note

  // Remembers the state as it is, in memory, and puts it back.
  void keep_state();
  void restore_state();

 private:
  void write_zeros();

  std::string path_;
  engine::Bundle bundle_;
  engine::Session session_;
  engine::AlignedBytes kept_state_;
};

}  // namespace ingot
