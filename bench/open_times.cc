// What it takes to open a bundle and run its first step: open_times BUNDLE [PUBLIC_KEY]. With the key, the signature is
// checked too. Each way is measured in processes of its own, in turn, with the file in the page cache; each figure is the
// least of several.
#include <fmt/format.h>
#include <ingot/signature.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <ingot/engine.hpp>
#include <iterator>
#include <memory>

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 7;

struct Way {
  const char* name;
  ingot_open_options options;
};

// What one process measured.
struct Times {
  double open_ms = 0, session_ms = 0, first_step_ms = 0, next_step_ms = 0;
  double peak_mib = 0;
};

double since_ms(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

bool has_init(const engine::Bundle& bundle) {
  uint32_t entry;
  return ingot_find_entry(bundle.get(), "init", &entry, nullptr) == INGOT_OK;
}

Times measure(const std::string& path, const ingot_open_options& options) {
  Times times;
  auto begin = Clock::now();
  const engine::Bundle bundle(path, &options);
  times.open_ms = since_ms(begin);
  begin = Clock::now();
  engine::Session session(bundle);
  times.session_ms = since_ms(begin);
  begin = Clock::now();
  if (has_init(bundle)) session.entry("init").run();
  const engine::Entry step = session.entry("train_step");
  step.run();
  times.first_step_ms = since_ms(begin);
  begin = Clock::now();
  step.run();
  times.next_step_ms = since_ms(begin);
  return times;
}

Times measure_in_process(const std::string& path, const ingot_open_options& options) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("there are no pipes left");
  const pid_t child = fork();
  if (child == 0) try {
      const Times times = measure(path, options);
      _exit(write(ends[1], &times, sizeof times) == sizeof times ? 0 : 1);
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}: {}\n", path, error.what());
      _exit(1);
    }
  close(ends[1]);
  Times times;
  const bool is_read = read(ends[0], &times, sizeof times) == sizeof times;
  close(ends[0]);
  rusage usage = {};
  int status = 0;
  wait4(child, &status, 0, &usage);
  if (!is_read || status != 0) throw std::runtime_error("it could not be measured");
  times.peak_mib = static_cast<double>(usage.ru_maxrss) / 1024;
  return times;
}

void show(const Way& way, const std::vector<Times>& all) {
  const auto least = [&](double Times::* figure) { return std::ranges::min(all, {}, figure).*figure; };
  fmt::print("{:34} {:9.2f} {:9.2f} {:11.2f} {:10.2f} {:9.1f}\n", way.name, least(&Times::open_ms),
             least(&Times::session_ms), least(&Times::first_step_ms), least(&Times::next_step_ms),
             least(&Times::peak_mib));
}

ingot_public_key read_key(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  ingot_public_key key;
  engine::call(ingot_parse_public_key, text.data(), text.size(), &key);
  return key;
}

void show_all(const std::string& path, const std::string& key_path) {
  ingot_open_options untouched = {}, mapped = {}, copied = {}, signed_by_key = {};
  untouched.trust_rodata = 1;
  copied.copy_file = 1;
  std::vector<Way> ways = {{"mapped, constants not checked", untouched}, {"mapped", mapped}, {"copied", copied}};
  ingot_public_key key;
  ingot_trusted_keys trusted = {&key, 1};
  if (!key_path.empty()) {
    key = read_key(key_path);
    signed_by_key.bundle_check = ingot_check_signature;
    signed_by_key.bundle_check_user = &trusted;
    ways.push_back({"copied, its signature checked", signed_by_key});
  }
  fmt::print("{:34} {:>9} {:>9} {:>11} {:>10} {:>9}\n", "milliseconds", "open", "session", "first step", "next step",
             "peak MiB");
  std::vector<std::vector<Times>> times(ways.size());
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < ways.size(); ++i) times[i].push_back(measure_in_process(path, ways[i].options));
  }
  for (size_t i = 0; i < ways.size(); ++i) show(ways[i], times[i]);
}

}  // namespace
}  // namespace ingot

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 3) {
    fmt::print(stderr, "usage: open_times BUNDLE [PUBLIC_KEY]\n");
    return 2;
  }
  ingot::show_all(argv[1], argc == 3 ? argv[2] : "");
} catch (const std::exception& error) {
  fmt::print(stderr, "open_times: {}\n", error.what());
  return 1;
}
