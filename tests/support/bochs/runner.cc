#include "tests/support/bochs/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "aot/base/error.h"
#include "aot/codegen/disassemble.h"
#include "schema/kernel_abi.h"
#include "tests/support/bochs/calls.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

// The disk: call and answer, the context of a call, the code image, then the memory of kernels.
constexpr int64_t kDiskBytes = int64_t{256} << 20;  // what is never touched costs nothing
constexpr int64_t kContextStart = 4096;
constexpr int64_t kImageStart = 64 << 10;
constexpr int64_t kPageBytes = 4096;
constexpr int64_t kMachineMegabytes = 512;

// What a kernel is given, as it lies on the disk.
struct Context {
  ingot_kernel_context context;
  uint64_t base;
  ingot_operand operands[(kImageStart - kContextStart - 64) / sizeof(ingot_operand)];
};
static_assert(sizeof(Context) <= kImageStart - kContextStart && sizeof(void*) == sizeof(uint64_t));

// The ROM's memory is the disk, from this address on.
constexpr uint64_t address_of(int64_t place) { return BOCHS_MEMORY_ADDRESS + static_cast<uint64_t>(place); }

template <typename Pointer>
Pointer pointer_to(int64_t place) {
  return reinterpret_cast<Pointer>(address_of(place));
}

bochs_sectors sectors(int64_t first, int64_t end) {
  return {static_cast<uint64_t>(first) / BOCHS_SECTOR_BYTES,
          static_cast<uint64_t>(end + BOCHS_SECTOR_BYTES - 1) / BOCHS_SECTOR_BYTES};
}

void require(bool condition, const std::string& what) {
  if (!condition) throw_error(nullptr, fmt::format("Bochs: cannot {}: {}", what, std::strerror(errno)));
}

// What Bochs 2.7 gets wrong, by the starts of mnemonics.
constexpr std::string_view kEmulatedWrongly[] = {
    "vcvtps2ph",               // takes ties away from zero
    "vcvttps2u", "vcvttpd2u",  // numbers from 2^63 on
    "vcvttss2u", "vcvttsd2u",  // likewise
    "vpextrw",                 // to memory, with a short displacement
    "kshift",                  // by all places but one
};

bool is_emulated_wrongly(const codegen::Instruction& instruction) {
  return std::ranges::any_of(kEmulatedWrongly,
                             [&](std::string_view start) { return instruction.text.starts_with(start); });
}

// For each kernel, whether none of its functions has an instruction that is emulated wrongly.
std::vector<bool> faithful_kernels(const loops::Target& target, const codegen::CodeImage& image) {
  std::set<std::string> wrong;
  for (const codegen::CodeImage::Function& function : image.functions) {
    if (std::ranges::any_of(disassemble(image, target, function.name), is_emulated_wrongly))
      wrong.insert(function.name);
  }
  std::vector<bool> faithful;
  for (const uint64_t entry : image.entry_offsets) {
    const auto symbol = std::ranges::find(image.functions, entry, &codegen::CodeImage::Function::offset_bytes);
    INGOT_CHECK(symbol != image.functions.end());
    const auto is_part = [&](const std::string& function) { return (function + ".").starts_with(symbol->name + "."); };
    faithful.push_back(std::ranges::none_of(wrong, is_part));
  }
  return faithful;
}

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

bool is_for_bochs(const loops::Target& target) {
  if (!std::getenv("INGOT_EMULATE") || target.name != "x86-64-v4") return false;
  static const bool is_here = fs::exists(INGOT_BOCHS) && fs::exists(INGOT_BOCHS_ROM);
  static const bool is_said = [] {
    if (!is_here) std::puts("  Bochs is not here: install bochs, bochs-term and clang-19, and configure again");
    return true;
  }();
  return is_said && is_here;
}

BochsRunner::BochsRunner(const loops::Target& target, const codegen::CodeImage& image)
    : entry_offsets_(image.entry_offsets),
      is_faithful_(faithful_kernels(target, image)),
      memory_start_(kImageStart + (std::ssize(image.bytes) + kPageBytes - 1) / kPageBytes * kPageBytes) {
  std::string folder = (fs::temp_directory_path() / "ingot-bochs-XXXXXX").string();
  require(mkdtemp(folder.data()) != nullptr, "make the folder " + folder);
  folder_ = folder;
  const std::string disk = folder_ / "disk";
  const int file = open(disk.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  require(file >= 0 && ftruncate(file, kDiskBytes) == 0, "make " + disk);
  void* const data = mmap(nullptr, kDiskBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  require(data != MAP_FAILED, "map " + disk);
  disk_ = static_cast<std::byte*>(data);
  INGOT_CHECK(memory_start_ < kDiskBytes);
  std::memcpy(disk_ + kImageStart, image.bytes.data(), image.bytes.size());
  write_configuration();
  start();
}

BochsRunner::~BochsRunner() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  munmap(disk_, kDiskBytes);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

// No firmware but ours, which also takes the place of the display's.
void BochsRunner::write_configuration() const {
  const std::string folder = folder_;
  std::ofstream(folder_ / "configuration") << fmt::format(R"(romimage: file={0}
vgaromimage: file={0}
cpu: model=corei7_skylake_x, count=1, ips=100000000, reset_on_triple_fault=0
memory: guest={1}, host={1}
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=disk, path={2}/disk, mode=flat, cylinders=0
boot: disk
display_library: term
sound: driver=dummy
speaker: enabled=0
clock: sync=none
log: {2}/log
panic: action=fatal
)",
                                                          INGOT_BOCHS_ROM, kMachineMegabytes, folder);
  std::ofstream(folder_ / "commands") << "continue\n";  // where Bochs was built with its debugger
}

void BochsRunner::start() {
  const std::string configuration = folder_ / "configuration", commands = folder_ / "commands", said = folder_ / "said";
  process_ = fork();
  require(process_ >= 0, "start a process");
  if (process_ > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // it would wait for calls for ever
  dup2(open(commands.c_str(), O_RDONLY), STDIN_FILENO);
  dup2(open(said.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
  dup2(STDOUT_FILENO, STDERR_FILENO);
  setenv("TERM", "linux", 1);
  execl(INGOT_BOCHS, INGOT_BOCHS, "-q", "-f", configuration.c_str(), nullptr);
  _exit(EXIT_FAILURE);
}

std::span<std::byte> BochsRunner::memory(int64_t bytes) {
  if (bytes > kDiskBytes - memory_start_)
    throw_error(nullptr, fmt::format("Bochs: {} bytes are asked for; kDiskBytes is less", bytes));
  memory_bytes_ = bytes;
  return {disk_ + memory_start_, static_cast<size_t>(bytes)};
}

void BochsRunner::write_context(std::span<const int64_t> operands, int64_t scratch) {
  auto* const it = reinterpret_cast<Context*>(disk_ + kContextStart);
  INGOT_CHECK(operands.size() <= std::size(it->operands));
  it->base = address_of(memory_start_);
  for (size_t k = 0; k < operands.size(); ++k) it->operands[k] = {static_cast<uint64_t>(operands[k]), 0, 0};
  it->context = {pointer_to<uint8_t* const*>(kContextStart + offsetof(Context, base)),
                 pointer_to<const ingot_operand*>(kContextStart + offsetof(Context, operands)),
                 pointer_to<uint8_t*>(memory_start_ + scratch)};
}

void BochsRunner::run(size_t kernel, std::span<const int64_t> operands, int64_t scratch, int64_t task) {
  INGOT_CHECK(is_faithful(kernel));
  write_context(operands, scratch);
  const auto context_bytes =
      static_cast<int64_t>(offsetof(Context, operands) + operands.size() * sizeof(ingot_operand));
  auto& call = *reinterpret_cast<bochs_call*>(disk_ + BOCHS_CALL_SECTOR * BOCHS_SECTOR_BYTES);
  // The first call brings the image, too.
  call.reads[0] = sectors(kContextStart, calls_ == 0 ? memory_start_ : kContextStart + context_bytes);
  call.reads[1] = call.write = sectors(memory_start_, memory_start_ + memory_bytes_);
  call.entry = address_of(kImageStart) + entry_offsets_.at(kernel);
  call.context = address_of(kContextStart);
  call.task = static_cast<uint64_t>(task);
  std::atomic_ref(call.number).store(++calls_);
  std::atomic_ref(call.number_again).store(calls_);
  wait_for_answer(kernel, task);
}

void BochsRunner::wait_for_answer(size_t kernel, int64_t task) {
  auto& answer = *reinterpret_cast<uint64_t*>(disk_ + BOCHS_ANSWER_SECTOR * BOCHS_SECTOR_BYTES);
  while (std::atomic_ref(answer).load() != calls_) {
    constexpr int kPollMicroseconds = 200;
    usleep(kPollMicroseconds);
    if (waitpid(process_, nullptr, WNOHANG) == 0) continue;
    process_ = 0;
    throw_bug(
        fmt::format("kernel {}, task {}: the emulated processor stopped:\n{}", kernel, task, text_of(folder_ / "log")));
  }
}

}  // namespace ingot
