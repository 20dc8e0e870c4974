// Keys and the signatures of bundles, for the commands that sign and check them.
#pragma once

#include <ingot/signature.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "apps/ingot/command.h"

namespace ingot {

// From key files. Errors name the file.
std::vector<ingot_public_key> read_public_keys(const std::vector<std::string>& paths);
ingot_private_key read_private_key(const std::string& path);  // with a warning where others may read it

// Writes the two halves of a new key. Nothing is overwritten; the private one is for its owner alone.
void write_key_files(const ingot_private_key& key, const std::string& private_path, const std::string& public_path);

std::string name_of(const ingot_public_key& key);

// The bundle with this key's signature behind it, in the place of one that it had.
std::vector<std::byte> signed_bundle(std::vector<std::byte> bundle, const ingot_private_key& key);

// Who signed a bundle, and whether it is as it was then.
struct Signer {
  ingot_public_key key;
  bool is_good;
};
std::vector<Signer> signers_of(std::span<const std::byte> bundle);

// What to do about a bundle that is refused for its signature; "" for other reasons.
std::string signature_hint(ingot_status status);

// The option --trust of commands that open bundles.
Option trust_option(std::vector<std::string>* paths);

}  // namespace ingot
