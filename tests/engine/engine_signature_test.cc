// Signatures: what a key has signed opens, and nothing else, down to the last bit; what was checked is what is used.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <ingot/signature.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

#include "tests/engine/engine_fixture.h"

namespace ingot::test {
namespace {

using Bytes = std::vector<std::byte>;

// A key that openssl made, and what openssl signed by it (`openssl pkeyutl -sign -rawin`), of the hash that Python's
// hashlib gives.
const std::string kPrivateKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIK0G6MRvQ6mSBHS1GlGT/y8tNckKhw/2gwfv0lAAFeoh\n"
    "-----END PRIVATE KEY-----\n";
const std::string kPublicKey =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEA5T85BR9M5geagoJvv0/XEKs29MXE5jnJHqCo5iEtPRE=\n"
    "-----END PUBLIC KEY-----\n";
constexpr const char* kSignature =
    "1416521789de15d1e54f8b113dedeb02fd771d3b5f5cccd49a83d9922f08e506"
    "f3d1123e8a9f9cd602eb599b7a67505899f4fcda81eccff7c1077c7bcc25d202";

ingot_private_key private_key(uint8_t number) {
  ingot_private_key key = {};
  key.bytes[0] = number;
  return key;
}

ingot_public_key public_key(uint8_t number) {
  const ingot_private_key key = private_key(number);
  ingot_public_key half = {};
  EXPECT_EQ(ingot_get_public_key(&key, &half, nullptr), INGOT_OK);
  return half;
}

Bytes with_signature(Bytes bundle, uint8_t key_number) {
  const ingot_private_key key = private_key(key_number);
  ingot_signature_record record = {};
  EXPECT_EQ(ingot_sign(&key, bundle.data(), bundle.size(), &record, nullptr), INGOT_OK);
  const auto* bytes = reinterpret_cast<const std::byte*>(&record);
  bundle.insert(bundle.end(), bytes, bytes + sizeof record);
  return bundle;
}

// What a check by one trusted key says.
ingot_error check(const Bytes& bundle, const ingot_public_key& key) {
  ingot_trusted_keys trusted = {&key, 1};
  ingot_error error = {};
  EXPECT_EQ(ingot_check_signature(&trusted, bundle.data(), bundle.size(), &error), error.status);
  return error;
}

class EngineSignature : public testing::Test {
 protected:
  const Bytes plain = bundle::write_bundle(fit_spec());
  const Bytes signed_by_1 = with_signature(plain, 1);
  const ingot_public_key key_1 = public_key(1), key_2 = public_key(2);
};

TEST_F(EngineSignature, SaysWhatIsWrongByName) {
  EXPECT_EQ(check(signed_by_1, key_1).status, INGOT_OK);
  EXPECT_EQ(check(plain, key_1).status, INGOT_NOT_SIGNED);

  const ingot_error other = check(signed_by_1, key_2);
  char name[INGOT_KEY_NAME_BYTES];
  ingot_name_key(&key_1, name);
  EXPECT_EQ(other.status, INGOT_UNTRUSTED_KEY);
  EXPECT_NE(std::string(other.text).find(name), std::string::npos) << other.text;

  Bytes changed = signed_by_1;
  changed[plain.size() - 1] ^= std::byte{1};
  EXPECT_EQ(check(changed, key_1).status, INGOT_BAD_SIGNATURE);
  EXPECT_EQ(check(Bytes(100), key_1).status, INGOT_NOT_A_BUNDLE);
  EXPECT_EQ(ingot_check_signature(nullptr, plain.data(), plain.size(), nullptr), INGOT_BAD_ARGUMENT);
}

TEST_F(EngineSignature, EveryBitIsSigned) {
  for (size_t i = 0; i < signed_by_1.size(); ++i) {
    Bytes changed = signed_by_1;
    changed[i] ^= std::byte{static_cast<uint8_t>(1 << i % 8)};
    EXPECT_NE(check(changed, key_1).status, INGOT_OK) << "byte " << i;
  }
}

TEST_F(EngineSignature, ABundleThatIsMadeToMeasureIsRefused) {
  // By one who puts every checksum right.
  Bytes changed = signed_by_1;
  changed[sizeof(ingot_bundle_header) + 100] ^= std::byte{1};
  EXPECT_EQ(check(resealed(changed), key_1).status, INGOT_BAD_SIGNATURE);

  // By one who takes the bundle for longer, its signature for a part of it.
  ingot_bundle_header header = header_of(signed_by_1);
  header.file_bytes = signed_by_1.size();
  EXPECT_EQ(check(with_header(signed_by_1, header), key_1).status, INGOT_NOT_SIGNED);
  header.file_bytes = 0;
  EXPECT_EQ(check(with_header(signed_by_1, header), key_1).status, INGOT_DAMAGED);
}

TEST_F(EngineSignature, EveryTruncationIsRefused) {
  for (size_t size = 1; size < signed_by_1.size(); ++size) {
    const int32_t expected = size == plain.size() ? INGOT_NOT_SIGNED : INGOT_TRUNCATED;
    const int32_t status =
        check(Bytes(signed_by_1.begin(), signed_by_1.begin() + static_cast<ptrdiff_t>(size)), key_1).status;
    EXPECT_EQ(status, size < 8 ? INGOT_NOT_A_BUNDLE : expected) << size;
  }
}

TEST_F(EngineSignature, BytesAfterTheSignaturesAreRefused) {
  Bytes longer = signed_by_1;
  longer.push_back({});
  ingot_trusted_keys trusted = {&key_1, 1};
  ingot_error error = {};
  EXPECT_EQ(ingot_check_signature(&trusted, longer.data(), longer.size(), &error), INGOT_TRUNCATED);
  EXPECT_STREQ(error.text, "after the bundle and its 1 signatures there are other bytes");
}

TEST_F(EngineSignature, OneTrustedSignerOfSeveralIsEnough) {
  const Bytes both = with_signature(signed_by_1, 2);
  EXPECT_EQ(check(both, key_1).status, INGOT_OK);
  EXPECT_EQ(check(both, key_2).status, INGOT_OK);
  EXPECT_EQ(check(both, public_key(3)).status, INGOT_UNTRUSTED_KEY);

  const ingot_public_key keys[] = {public_key(3), key_2};
  ingot_trusted_keys trusted = {keys, 2};
  EXPECT_EQ(ingot_check_signature(&trusted, both.data(), both.size(), nullptr), INGOT_OK);
  trusted.count = 0;
  EXPECT_EQ(ingot_check_signature(&trusted, both.data(), both.size(), nullptr), INGOT_UNTRUSTED_KEY);

  ingot_public_key signer = {};
  for (uint32_t i = 0; i < 2; ++i) {
    ASSERT_EQ(ingot_get_signer(both.data(), both.size(), i, &signer, nullptr), INGOT_OK);
    EXPECT_EQ(std::memcmp(signer.bytes, i == 0 ? key_1.bytes : key_2.bytes, sizeof signer.bytes), 0);
  }
  EXPECT_EQ(ingot_get_signer(both.data(), both.size(), 2, &signer, nullptr), INGOT_NOT_SIGNED);
}

TEST_F(EngineSignature, TheEngineRefusesBeforeItReadsAnything) {
  ingot_trusted_keys trusted = {&key_1, 1};
  ingot_open_options options = {};
  options.bundle_check = ingot_check_signature;
  options.bundle_check_user = &trusted;
  EXPECT_EQ(OpenBundle(signed_by_1, &options).status, INGOT_OK);
  EXPECT_EQ(OpenBundle(plain, &options).status, INGOT_NOT_SIGNED);

  // Metadata that would be refused is not looked at; nor is it by a probe.
  Bytes hostile = signed_by_1;
  std::fill_n(hostile.begin() + sizeof(ingot_bundle_header), 64, std::byte{0xff});
  EXPECT_EQ(OpenBundle(hostile).status, INGOT_DAMAGED);
  EXPECT_EQ(OpenBundle(hostile, &options).status, INGOT_BAD_SIGNATURE);
  const Block memory(hostile.size());
  std::memcpy(memory.data(), hostile.data(), hostile.size());
  ingot_requirements needs;
  EXPECT_EQ(ingot_probe_memory_with(memory.data(), memory.size(), &options, &needs, nullptr), INGOT_BAD_SIGNATURE);

  const TemporaryFolder directory;
  const std::string path = directory.file("hostile.ingot");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(hostile.data()), static_cast<std::streamsize>(hostile.size()));
  EXPECT_EQ(ingot_probe_file_with(path.c_str(), &options, &needs, nullptr), INGOT_BAD_SIGNATURE);
  EXPECT_EQ(OpenBundle(path, &options).status, INGOT_BAD_SIGNATURE);
}

TEST_F(EngineSignature, WhatWasCheckedIsWhatRuns) {
  const TemporaryFolder directory;
  const std::string path = directory.file("signed.ingot");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(signed_by_1.data()), static_cast<std::streamsize>(signed_by_1.size()));
  ingot_open_options options = {};
  options.bundle_check_user = const_cast<char*>(path.c_str());
  options.bundle_check = [](void* path, const void* bytes, uint64_t byte_count, ingot_error* error) {
    EXPECT_EQ(truncate(static_cast<const char*>(path), 0), 0);
    const ingot_public_key key = public_key(1);
    ingot_trusted_keys trusted = {&key, 1};
    return ingot_check_signature(&trusted, bytes, byte_count, error);
  };
  const Block memory(1 << 16);
  ingot_bundle* opened = nullptr;
  ingot_error error = {};
  ASSERT_EQ(ingot_open_file(path.c_str(), &options, memory.data(), memory.size(), &opened, &error), INGOT_OK)
      << error.text;
  ingot_bundle_info info;
  ingot_get_bundle_info(opened, &info);
  EXPECT_STREQ(info.name, "fit");
  ingot_close(opened);
}

TEST_F(EngineSignature, WhoDoesNotAskOpensASignedBundleAsAnyOther) {
  const OpenBundle bundle(with_signature(signed_by_1, 2));
  ASSERT_EQ(bundle.status, INGOT_OK) << bundle.error.text;
  const OpenSession open(bundle);
  const FitPorts ports(open.session);
  EXPECT_EQ(ingot_run(open.session, kInit, nullptr), INGOT_OK);
  EXPECT_EQ(ingot_run(open.session, kTrainStep, nullptr), INGOT_OK);
}

TEST_F(EngineSignature, SchemesOfLaterVersionsArePassedBy) {
  Bytes both = with_signature(signed_by_1, 2);
  both[plain.size() + offsetof(ingot_signature_record, scheme)] = std::byte{9};
  EXPECT_EQ(check(both, key_2).status, INGOT_OK);
  EXPECT_EQ(check(both, key_1).status, INGOT_UNTRUSTED_KEY);
}

TEST_F(EngineSignature, IsWhatOtherProgramsCompute) {
  std::ifstream in(INGOT_SOURCE_DIR "/tests/engine/compat/calls_1.3.ingot", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  ASSERT_FALSE(text.empty());
  ingot_private_key key = {};
  ASSERT_EQ(ingot_parse_private_key(kPrivateKey.data(), kPrivateKey.size(), &key, nullptr), INGOT_OK);
  ingot_signature_record record = {};
  ASSERT_EQ(ingot_sign(&key, text.data(), text.size(), &record, nullptr), INGOT_OK);
  std::string hex;
  for (const uint8_t byte : record.signature) hex += fmt::format("{:02x}", byte);
  EXPECT_EQ(hex, kSignature);
  ingot_public_key half = {};
  ASSERT_EQ(ingot_parse_public_key(kPublicKey.data(), kPublicKey.size(), &half, nullptr), INGOT_OK);
  EXPECT_EQ(std::memcmp(half.bytes, record.public_key, sizeof half.bytes), 0);
}

TEST(KeyText, IsReadAsItWasWritten) {
  ingot_private_key key = {}, other_key = {}, key_again = {};
  ASSERT_EQ(ingot_make_key(&key, nullptr), INGOT_OK);
  ASSERT_EQ(ingot_make_key(&other_key, nullptr), INGOT_OK);
  EXPECT_NE(std::memcmp(&key, &other_key, sizeof key), 0);
  ingot_public_key half = {}, half_again = {};
  ASSERT_EQ(ingot_get_public_key(&key, &half, nullptr), INGOT_OK);
  char text[INGOT_KEY_TEXT_BYTES], name[INGOT_KEY_NAME_BYTES];
  ingot_print_private_key(&key, text);
  ASSERT_EQ(ingot_parse_private_key(text, std::strlen(text), &key_again, nullptr), INGOT_OK);
  EXPECT_EQ(std::memcmp(&key, &key_again, sizeof key), 0);
  ingot_print_public_key(&half, text);
  ASSERT_EQ(ingot_parse_public_key(text, std::strlen(text), &half_again, nullptr), INGOT_OK);
  EXPECT_EQ(std::memcmp(&half, &half_again, sizeof half), 0);
  ingot_name_key(&half, name);
  EXPECT_NE(std::string(text).find(std::string(name) + "\n-----END"), std::string::npos) << text;
}

TEST(KeyText, WhatIsNoKeyIsRefused) {
  const auto refusal = [](const std::string& text) {
    ingot_public_key key = {};
    ingot_error error = {};
    EXPECT_EQ(ingot_parse_public_key(text.data(), text.size(), &key, &error), INGOT_BAD_ARGUMENT) << text;
    return std::string(error.text);
  };
  EXPECT_NE(refusal(kPrivateKey).find("this is a private key; the public one belongs here"), std::string::npos);
  const auto replaced = [](const std::string& word, const std::string& by) {
    std::string text = kPublicKey;
    return text.replace(text.find(word), word.size(), by);
  };
  for (const std::string& text :
       {std::string(), std::string("hello"), replaced("END", "BEGIN"), replaced("MCow", "MCoX"),
        replaced("5T85", "5T8"), replaced("5T85", "5T8555T8"), replaced("5T85", "5T*5"), kPublicKey.substr(0, 80)}) {
    EXPECT_NE(refusal(text).find("this is no public Ed25519 key in PEM form"), std::string::npos) << text;
  }
  EXPECT_NE(refusal(kPublicKey + kPublicKey).find("there are several public keys"), std::string::npos);
  ingot_private_key key = {};
  EXPECT_EQ(ingot_parse_private_key(kPublicKey.data(), kPublicKey.size(), &key, nullptr), INGOT_BAD_ARGUMENT);
}

}  // namespace
}  // namespace ingot::test
