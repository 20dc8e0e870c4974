// ingot keygen, sign and verify: who made a bundle, and that nobody changed it since.
#include <fmt/format.h>

#include <ingot/engine.hpp>

#include "aot/base/error.h"
#include "aot/base/file.h"
#include "apps/ingot/command.h"
#include "apps/ingot/device/keys.h"

namespace ingot {
namespace {

struct SignOptions {
  std::string bundle, key, output;
};

struct VerifyOptions {
  std::string bundle;
  std::vector<std::string> trust;
};

void make_keys(const std::string& name) {
  ingot_private_key key = {};
  engine::call(ingot_make_key, &key);
  write_key_files(key, name + ".key", name + ".pub");
  fmt::print("{0}.key: signs bundles (ingot sign NET.ingot --key {0}.key). Keep it secret\n", name);
  fmt::print("{0}.pub: checks them (ingot train NET.ingot --trust {0}.pub). Give it to whoever runs them\n", name);
}

void sign(const SignOptions& options) {
  const ingot_private_key key = read_private_key(options.key);
  const std::string& path = options.output.empty() ? options.bundle : options.output;
  try {
    const std::vector<std::byte> bundle = signed_bundle(read_bytes(options.bundle), key);
    WholeFile file(path);
    file.write(bundle);
    file.commit();
  } catch (const engine::Failure& failure) {
    throw_error(nullptr, fmt::format("{}: {}; is it what `ingot compile` wrote?", options.bundle, failure.what()));
  }
  ingot_public_key public_key = {};
  engine::call(ingot_get_public_key, &key, &public_key);
  fmt::print("{}: signed by {}\n", path, name_of(public_key));
}

void verify(const VerifyOptions& options) {
  const std::vector<ingot_public_key> keys = read_public_keys(options.trust);
  const std::vector<std::byte> bundle = read_bytes(options.bundle);
  for (size_t i = 0; i < keys.size(); ++i) {
    ingot_trusted_keys one = {&keys[i], 1};
    if (ingot_check_signature(&one, bundle.data(), bundle.size(), nullptr) != INGOT_OK) continue;
    fmt::print("{}: signed by {}, {}\n", options.bundle, name_of(keys[i]), options.trust[i]);
    return;
  }
  ingot_trusted_keys all = {keys.data(), static_cast<uint32_t>(keys.size())};
  ingot_error error = {};
  const ingot_status status = ingot_check_signature(&all, bundle.data(), bundle.size(), &error);
  const std::string hint = signature_hint(status);
  throw_error(nullptr, fmt::format("{}: {}{}{}", options.bundle, error.text, hint.empty() ? "" : "; ", hint));
}

}  // namespace

Command keygen_command() {
  auto name = std::make_shared<std::string>();
  return {
      .name = "keygen",
      .help = "Make a key to sign bundles with",
      .examples = "  ingot keygen release    # release.key, to be kept secret, and release.pub, to be given away",
      .options = {{"name", name.get(), "the files are NAME.key and NAME.pub", {.required = true}}},
      .run = [name] { make_keys(*name); },
  };
}

Command sign_command() {
  auto options = std::make_shared<SignOptions>();
  SignOptions& o = *options;
  return {
      .name = "sign",
      .help = "Sign a bundle: all of it, machine code, plans, constants and first values",
      .examples =
          "  ingot sign net.ingot --key release.key\n"
          "  ingot sign net.ingot --key release.key -o signed.ingot",
      .options = {{"bundle", &o.bundle, "the bundle", {.required = true}},
                  {"--key", &o.key, "private key file, as keygen writes it", {.required = true}},
                  {"-o,--output", &o.output, "the signed bundle (default: it takes the place of the other)"}},
      .run = [options] { sign(*options); },
  };
}

Command verify_command() {
  auto options = std::make_shared<VerifyOptions>();
  VerifyOptions& o = *options;
  Option trust = trust_option(&o.trust);
  trust.rules.required = true;
  return {
      .name = "verify",
      .help = "Check that a bundle is signed by a key that you trust, and as it was then",
      .examples = "  ingot verify net.ingot --trust release.pub",
      .options = {{"bundle", &o.bundle, "the bundle", {.required = true}}, trust},
      .run = [options] { verify(*options); },
  };
}

}  // namespace ingot
