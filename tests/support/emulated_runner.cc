#include "tests/support/emulated_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>

#include "aot/base/divide.h"
#include "aot/base/error.h"
#include "schema/kernel_abi.h"
#include "tests/support/emulated_calls.h"

namespace ingot {
namespace {

constexpr int64_t kContextBytes = 64 << 10;  // of it, for what a call is told
constexpr int64_t kOperandsMax = (kContextBytes - 64) / static_cast<int64_t>(sizeof(ingot_operand));

struct Emulator {
  std::string_view target;
  const char* path;                         // QEMU's program, or "" where it was not found
  const char* package;                      // that has it
  const char* program;                      // emulated_kernels.c for that processor
  const char* setting;                      // of QEMU's environment; may be null
  int64_t memory_bytes = int64_t{4} << 30;  // that is never touched costs nothing
  int pointer_bytes = 8;
  bool stops_in_conversions =
      false;  // QEMU 7 does, of vectors to integers, where they begin what it translates at once
};

constexpr Emulator kEmulators[] = {
    {"aarch64", INGOT_QEMU_AARCH64, "qemu-user", INGOT_EMULATED_KERNELS_AARCH64, nullptr},
    {"aarch64-dotprod", INGOT_QEMU_AARCH64, "qemu-user", INGOT_EMULATED_KERNELS_AARCH64, "QEMU_CPU=max"},
    {"aarch64-bf16", INGOT_QEMU_AARCH64, "qemu-user", INGOT_EMULATED_KERNELS_AARCH64, "QEMU_CPU=max"},
    {"riscv64", INGOT_QEMU_RISCV64, "qemu-user", INGOT_EMULATED_KERNELS_RISCV64, "QEMU_CPU=rv64"},
    {"riscv64-v", INGOT_QEMU_RISCV64, "qemu-user", INGOT_EMULATED_KERNELS_RISCV64,
     "QEMU_CPU=rv64,v=true,vext_spec=v1.0,vlen=128", int64_t{4} << 30, 8, true},
    // QEMU 7 has no Cortex-M in user mode. That every instruction is one of the M7, the compiler proves.
    {"cortex-m7", INGOT_QEMU_ARM, "qemu-user", INGOT_EMULATED_KERNELS_ARM, "QEMU_CPU=max", int64_t{1} << 30, 4},
};

const Emulator* find_emulator(const loops::Target& target) {
  const auto found = std::ranges::find(kEmulators, target.name, &Emulator::target);
  return found == std::end(kEmulators) ? nullptr : found;
}

void require(bool condition, const char* what) {
  if (!condition) throw_error(nullptr, fmt::format("emulator: cannot {}: {}", what, std::strerror(errno)));
}

// Closed when it goes.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() { close(descriptor_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// A file in memory that this process and another one map.
class SharedFile {
 public:
  explicit SharedFile(int64_t bytes) : file_(memfd_create("kernels", MFD_CLOEXEC)), bytes_(bytes) {
    require(file_.get() >= 0 && ftruncate(file_.get(), bytes) == 0, "make a file in memory");
    void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_.get(), 0);
    require(data != MAP_FAILED, "map a file in memory");
    data_ = static_cast<std::byte*>(data);
  }
  ~SharedFile() { munmap(data_, bytes_); }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  int descriptor() const { return file_.get(); }
  std::byte* data() const { return data_; }

 private:
  Descriptor file_;
  int64_t bytes_;
  std::byte* data_;
};

// A process that answers on its standard input, which is a socket.
class Process {
 public:
  Process(const Emulator& emulator, int file) {
    int sockets[2];
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0, "make sockets");
    const Descriptor its_end(sockets[1]);
    socket_.emplace(sockets[0]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, its_end.get(), EMULATED_SOCKET);
    posix_spawn_file_actions_adddup2(&actions, file, EMULATED_FILE);
    char* const arguments[] = {const_cast<char*>(emulator.path), const_cast<char*>(emulator.program), nullptr};
    char* const environment[] = {const_cast<char*>(emulator.setting), nullptr};
    errno = posix_spawn(&id_, emulator.path, &actions, nullptr, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    require(errno == 0, "start");
  }
  ~Process() {
    socket_.reset();
    waitpid(id_, nullptr, 0);
  }

  // Tells something and waits for the answer; false when the process has ended instead.
  template <typename Message, typename Answer>
  bool ask(const Message& message, Answer& answer) {
    return send(socket_->get(), &message, sizeof message, MSG_NOSIGNAL) == sizeof message &&
           recv(socket_->get(), &answer, sizeof answer, MSG_WAITALL) == sizeof answer;
  }

 private:
  std::optional<Descriptor> socket_;
  pid_t id_ = 0;
};

int64_t whole_pages(const codegen::CodeImage& image) {
  const auto page = static_cast<int64_t>(image.alignment_bytes);
  return divide_up(static_cast<int64_t>(image.bytes.size()), page) * page;
}

// Where RISC-V's vfcvt.rtz, vfwcvt.rtz and vfncvt.rtz are.
std::vector<uint64_t> conversions(const codegen::CodeImage& image) {
  constexpr uint32_t kMask = 0xfc03707f, kConversion = 0x48031057;  // funct6, vs1's bits 1 and 2, OPFVV
  std::vector<uint64_t> found;
  for (uint64_t at = 0; at + sizeof(uint32_t) <= image.bytes.size(); at += 2) {
    uint32_t instruction = 0;
    std::memcpy(&instruction, image.bytes.data() + at, sizeof instruction);
    if ((instruction & kMask) == kConversion) found.push_back(at);
  }
  return found;
}

class EmulatedRunner : public CodeRunner {
 public:
  EmulatedRunner(const Emulator& emulator, const codegen::CodeImage& image)
      : emulator_(emulator),
        entry_offsets_(image.entry_offsets),
        image_bytes_(whole_pages(image)),
        file_(image_bytes_ + emulator.memory_bytes),
        process_(emulator, file_.descriptor()) {
    if (emulator.stops_in_conversions) stops_at_ = conversions(image);
    if (image_bytes_ == 0) throw_error(nullptr, "emulator: the code image is empty");
    std::memcpy(file_.data(), image.bytes.data(), image.bytes.size());
    const emulated_file file{static_cast<uint64_t>(image_bytes_), static_cast<uint64_t>(emulator.memory_bytes)};
    if (!process_.ask(file, address_)) throw_error(nullptr, "emulator: it does not start");
  }

  // A kernel's code lies around where it is entered, and begins behind where another one is.
  bool is_faithful(size_t kernel) const override {
    uint64_t from = 0, to = static_cast<uint64_t>(image_bytes_);
    for (const uint64_t entry : entry_offsets_) {
      if (entry < entry_offsets_[kernel]) from = std::max(from, entry);
      if (entry > entry_offsets_[kernel]) to = std::min(to, entry);
    }
    return std::ranges::none_of(stops_at_, [&](uint64_t at) { return from <= at && at < to; });
  }

  std::span<std::byte> memory(int64_t bytes) override {
    if (bytes > emulator_.memory_bytes - kContextBytes)
      throw_error(nullptr, fmt::format("emulator: {} bytes are asked for; memory_bytes is less", bytes));
    return {file_.data() + image_bytes_ + kContextBytes, static_cast<size_t>(bytes)};
  }

  void run(size_t kernel, std::span<const int64_t> operands, int64_t scratch, int64_t task) override {
    emulator_.pointer_bytes == 8 ? write_context<uint64_t>(operands, scratch)
                                 : write_context<uint32_t>(operands, scratch);
    const emulated_call call{entry_offsets_.at(kernel), address_, static_cast<uint32_t>(task), 0};
    uint32_t done = 0;
    if (!process_.ask(call, done) || done != call.task)
      throw_bug(fmt::format("kernel {}, task {}: the emulated {} processor stopped", kernel, task, emulator_.target));
  }

 private:
  // What a kernel is given, an ingot_kernel_context with pointers of that processor, as it lies at the start of the memory.
  template <typename Pointer>
  struct Context {
    Pointer bases, operands, scratch;
    Pointer base;
    alignas(ingot_operand) ingot_operand values[kOperandsMax];
  };
  static_assert(sizeof(Context<uint64_t>) <= kContextBytes &&
                offsetof(ingot_kernel_context, operands) == sizeof(void*) &&
                offsetof(ingot_kernel_context, scratch) == 2 * sizeof(void*));

  template <typename Pointer>
  void write_context(std::span<const int64_t> operands, int64_t scratch) {
    INGOT_CHECK(std::ssize(operands) <= kOperandsMax);
    auto* const it = reinterpret_cast<Context<Pointer>*>(file_.data() + image_bytes_);
    const auto address = static_cast<Pointer>(address_);
    it->bases = address + static_cast<Pointer>(offsetof(Context<Pointer>, base));
    it->operands = address + static_cast<Pointer>(offsetof(Context<Pointer>, values));
    it->base = address + static_cast<Pointer>(kContextBytes);
    it->scratch = it->base + static_cast<Pointer>(scratch);
    for (size_t k = 0; k < operands.size(); ++k) it->values[k] = {static_cast<uint64_t>(operands[k]), 0, 0};
  }

  const Emulator& emulator_;
  std::vector<uint64_t> entry_offsets_, stops_at_;
  int64_t image_bytes_;
  SharedFile file_;
  Process process_;
  uint64_t address_ = 0;  // of the memory, in the process
};

}  // namespace

std::optional<std::string> why_not_emulated(const loops::Target& target) {
  const Emulator* emulator = find_emulator(target);
  if (!emulator) return fmt::format("nothing here emulates {}", target.name);
  if (std::filesystem::exists(emulator->path) && std::filesystem::exists(emulator->program)) return std::nullopt;
  return fmt::format("nothing here emulates {}: install {} and configure again", target.name, emulator->package);
}

std::unique_ptr<CodeRunner> make_emulated_runner(const loops::Target& target, const codegen::CodeImage& image) {
  return std::make_unique<EmulatedRunner>(*find_emulator(target), image);
}

}  // namespace ingot
