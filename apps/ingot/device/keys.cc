#include "apps/ingot/device/keys.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ingot/engine.hpp>

#include "aot/base/error.h"
#include "aot/base/file.h"

namespace ingot {
namespace {

template <typename Key>
Key read_key(const std::string& path, ingot_status (*parse)(const char*, uint64_t, Key*, ingot_error*)) {
  const std::string text = read_text(path);
  Key key = {};
  ingot_error error = {};
  if (parse(text.data(), text.size(), &key, &error) == INGOT_OK) return key;
  throw_error(nullptr, fmt::format("{}: {}", path, error.text));
}

void write_new_file(const std::string& path, const char* text, mode_t mode) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  const size_t byte_count = std::strlen(text);
  bool is_written = descriptor >= 0 && write(descriptor, text, byte_count) == static_cast<ssize_t>(byte_count) &&
                    fsync(descriptor) == 0;
  const std::string reason = std::strerror(errno);
  if (descriptor >= 0) close(descriptor);
  if (is_written) return;
  throw_error(nullptr, fmt::format("cannot write {}: {}; no key is overwritten", path, reason));
}

// The signatures behind a bundle.
std::span<const std::byte> signatures_of(std::span<const std::byte> bundle) {
  uint64_t bundle_bytes = 0;
  engine::call(ingot_get_bundle_bytes, bundle.data(), bundle.size(), &bundle_bytes);
  return bundle.subspan(bundle_bytes);
}

}  // namespace

std::vector<ingot_public_key> read_public_keys(const std::vector<std::string>& paths) {
  std::vector<ingot_public_key> keys;
  for (const std::string& path : paths) keys.push_back(read_key(path, ingot_parse_public_key));
  return keys;
}

ingot_private_key read_private_key(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & 077) != 0) {
    fmt::print(stderr, "warning: others may read the private key {}: chmod 600 keeps it secret\n", path);
  }
  return read_key(path, ingot_parse_private_key);
}

void write_key_files(const ingot_private_key& key, const std::string& private_path, const std::string& public_path) {
  ingot_public_key public_key = {};
  engine::call(ingot_get_public_key, &key, &public_key);
  char text[INGOT_KEY_TEXT_BYTES];
  ingot_print_private_key(&key, text);
  write_new_file(private_path, text, 0600);
  ingot_print_public_key(&public_key, text);
  write_new_file(public_path, text, 0644);
}

std::string name_of(const ingot_public_key& key) {
  char name[INGOT_KEY_NAME_BYTES];
  ingot_name_key(&key, name);
  return name;
}

std::vector<std::byte> signed_bundle(std::vector<std::byte> bundle, const ingot_private_key& key) {
  constexpr auto kRecordBytes = static_cast<ptrdiff_t>(sizeof(ingot_signature_record));
  ingot_signature_record record;
  engine::call(ingot_sign, &key, bundle.data(), bundle.size(), &record);
  const std::vector<Signer> signers = signers_of(bundle);
  auto at = bundle.end() - static_cast<ptrdiff_t>(signatures_of(bundle).size());
  for (const Signer& signer : signers) {
    const bool is_own = std::memcmp(signer.key.bytes, record.public_key, sizeof record.public_key) == 0;
    at = is_own ? bundle.erase(at, at + kRecordBytes) : at + kRecordBytes;
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(&record);
  bundle.insert(bundle.end(), bytes, bytes + sizeof record);
  return bundle;
}

std::vector<Signer> signers_of(std::span<const std::byte> bundle) {
  const size_t count = signatures_of(bundle).size() / sizeof(ingot_signature_record);
  std::vector<Signer> signers(count);
  for (uint32_t i = 0; i < count; ++i) {
    engine::call(ingot_get_signer, bundle.data(), bundle.size(), i, &signers[i].key);
    ingot_trusted_keys itself = {&signers[i].key, 1};
    signers[i].is_good = ingot_check_signature(&itself, bundle.data(), bundle.size(), nullptr) == INGOT_OK;
  }
  return signers;
}

std::string signature_hint(ingot_status status) {
  switch (status) {
    case INGOT_NOT_SIGNED:
      return "--trust asks for a signature, which `ingot sign` makes";
    case INGOT_UNTRUSTED_KEY:
      return "if you trust that key, name its file by --trust as well";
    case INGOT_BAD_SIGNATURE:
      return "get it anew from whoever signed it";
    default:
      return "";
  }
}

Option trust_option(std::vector<std::string>* paths) {
  return {"--trust",
          paths,
          "public key file, as keygen writes it: a bundle that it did not sign is refused",
          {.names = Names::kInput}};
}

}  // namespace ingot
