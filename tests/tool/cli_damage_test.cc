// Damaged files of every kind in the hands of every command: each is read or refused with words, and nothing crashes.
#include <fmt/format.h>

#include <csignal>
#include <iostream>
#include <map>
#include <random>

#include "tests/fuzz/seal_bundle.h"
#include "tests/support/environment.h"
#include "tests/tool/cli_fixture.h"

namespace ingot {
namespace {

using Dice = std::mt19937_64;

size_t below(Dice& random, size_t count) { return random() % count; }

// What stands in the place of a number, name or list of a header.
constexpr const char* kWords[] = {"0",
                                  "1",
                                  "-1",
                                  "4",
                                  "64",
                                  "4294967296",
                                  "9223372036854775808",
                                  "18446744073709551616",
                                  "1e3",
                                  "1.5",
                                  "null",
                                  "\"x\"",
                                  "[]",
                                  "{}",
                                  "true",
                                  "[[0,16]]",
                                  "\"\\u12",
                                  "\xff\xfe"};
constexpr uint64_t kLengths[] = {0, 1, 7, 100, 1 << 20, uint64_t{1} << 32, uint64_t{1} << 63, ~uint64_t{0}};

void damage_once(std::string& file, Dice& random) {
  if (file.empty()) return;
  const size_t at = below(random, file.size()), count = below(random, std::min<size_t>(60, file.size() - at));
  switch (below(random, 8)) {
    case 0:
      file[at] = static_cast<char>(file[at] ^ (1 << below(random, 8)));
      break;
    case 1:
      file[at] = static_cast<char>(random());
      break;
    case 2:
      file.resize(at);
      break;
    case 3:  // the length of a header
      if (file.size() >= 8) std::memcpy(file.data(), &kLengths[below(random, std::size(kLengths))], 8);
      break;
    case 4: {  // a word of a header
      const size_t word = file.find_first_of("0123456789\"[", at);
      const size_t end = word == file.npos ? word : file.find_first_of(",]}: ", word);
      if (end != file.npos) file.replace(word, end - word, kWords[below(random, std::size(kWords))]);
      break;
    }
    case 5:
      file.insert(at, std::string(below(random, 20) == 0 ? 5000 : 3, "[{,\"\0"[below(random, 5)]));
      break;
    case 6:
      file.insert(at, file.substr(below(random, file.size()), count));
      break;
    default:
      file.erase(at, count);
  }
}

std::string damaged(std::string file, Dice& random) {
  for (size_t times = 1 + below(random, 3); times > 0; --times) damage_once(file, random);
  return file;
}

// With checksums put right where only header and metadata were damaged: code that was not is what the compiler wrote.
std::string lying(const std::string& bundle, Dice& random) {
  ingot_bundle_header header;
  std::memcpy(&header, bundle.data(), sizeof header);
  std::string bad = bundle;
  const size_t end = header.metadata_offset + header.metadata_bytes;
  for (size_t times = 1 + below(random, 3); times > 0; --times) bad[below(random, end)] = static_cast<char>(random());
  test::seal_bundle(reinterpret_cast<uint8_t*>(bad.data()), bad.size());
  return bad;
}

// A file that is damaged, and what reads it.
struct Victim {
  const char* file;
  std::vector<const char*> commands;
};
const Victim kVictims[] = {
    {"net.ingot",
     {"inspect net.ingot", "inspect net.ingot --json", "header net.ingot -o net.h", "verify net.ingot --trust key.pub",
      "run net.ingot predict --input x=1 --state zeros", "bench net.ingot predict --seconds 0",
      "train net.ingot --data data.safetensors --set lr=0.05 --state zeros"}},
    {"data.safetensors", {"train net.ingot --data data.safetensors --set lr=0.05 --state zeros --steps 2"}},
    {"state.safetensors",
     {"run net.ingot predict --input x=1 --state state.safetensors",
      "train net.ingot --data data.safetensors --set lr=0.05 --steps 6 --save state.safetensors --resume"}},
    {"x.npy", {"run net.ingot predict --input x=@x.npy --state zeros"}},
    {"check.mlir", {"check check.mlir", "opt check.mlir", "compile check.mlir -o check.ingot"}},
    {"key.pub", {"verify net.ingot --trust key.pub"}},
};

class CliDamageTest : public CliTest {
 protected:
  CliDamageTest() {
    compile_both();
    done("keygen key");
    done("sign net.ingot --key key.key");
    done("train net.ingot --data data.safetensors --set lr=0.05 --state zeros --save state.safetensors");
    done("run net.ingot predict --input x=@data.safetensors:x --state zeros --save-outputs outputs");
    std::filesystem::rename(path("outputs/prediction.npy"), path("prediction.npy"));
    write("x.npy", npy());
    for (const Victim& victim : kVictims) whole_[victim.file] = read_text(path(victim.file));
  }

  // The input x as NumPy stores it.
  std::string npy() const {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (8, 4), }";
    header.resize(117, ' ');
    return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n" + std::string(128, '\0');
  }

  // A command that ends by itself, unless a plan that lies loops for ever.
  void expect_words(const std::string& command, bool may_loop) {
    const std::string line =
        fmt::format("cd {} && ulimit -v 4000000 && ulimit -c 0 && ulimit -t 10 && timeout 300 {} {} >out 2>err",
                    folder_.path().string(), INGOT_TOOL, command);
    const int status = std::system(line.c_str());
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    const std::string says = read_text(path("err"));
    ++counts_[code];
    EXPECT_TRUE(code == kSuccess || code == kUserError || (code == kSignal + SIGXCPU && may_loop))
        << code << " " << says;
    const bool has_words = says.find("error: ") != says.npos || says.find("limit: ") != says.npos;
    EXPECT_EQ(has_words, code == kUserError) << code << " " << says;
    for (const char c : says) EXPECT_TRUE(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= ' ') << says;
  }

  std::map<std::string, std::string> whole_;
  std::map<int, int> counts_;
};

// INGOT_DAMAGES says how many files.
TEST_F(CliDamageTest, IsReadOrRefused) {
  const int64_t damages = number_from_environment("INGOT_DAMAGES", 25);
  Dice random(1);
  for (int64_t i = 0; i < damages && !HasFailure(); ++i) {
    const Victim& victim = kVictims[below(random, std::size(kVictims))];
    const std::string& whole = whole_.at(victim.file);
    const bool is_lie = std::string(victim.file) == "net.ingot" && below(random, 2) == 0;
    const std::string command = victim.commands[below(random, victim.commands.size())];
    SCOPED_TRACE(fmt::format("{}: {}", i, command));
    for (const auto& [file, text] : whole_) write(file, text);
    write(victim.file, is_lie ? lying(whole, random) : damaged(whole, random));
    expect_words(command, is_lie);
  }
  std::cout << "  " << damages << " files: " << counts_[kSuccess] << " read, " << counts_[kUserError] << " refused\n";
  EXPECT_GT(counts_[kUserError], damages / 4);
}

}  // namespace
}  // namespace ingot
