// The engine for C++20: the C API of ingot/engine.h with ownership, spans and exceptions. Header only.
//
//   ingot::engine::Bundle bundle("digits.ingot");
//   ingot::engine::Session session(bundle, /*threads=*/2);
//   auto step = session.entry("train_step");
//   std::span<float> images = step.input<float>("images");   // memory of the session's, bound to the input
//   float& loss = step.output<float>("loss")[0];
//   session.entry("init").run();
//   for (...) { fill(images); step.run(); print(loss); }
//   session.save("digits.safetensors");
//
// A failure throws Failure. Nothing here allocates in run().
#pragma once

#if __cplusplus < 202002L
#error "ingot/engine.hpp needs C++20 (-std=c++20); ingot/engine.h is for C and any C++"
#endif

#include <ingot/engine.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ingot::engine {

// What a failed call throws. what() names the thing, the place and what to do.
class Failure : public std::runtime_error {
 public:
  explicit Failure(const ingot_error& error)
      : std::runtime_error(error.text), status_(static_cast<ingot_status>(error.status)) {}
  ingot_status status() const { return status_; }

 private:
  ingot_status status_;
};

// Calls a function of the C API with an ingot_error behind the arguments; throws if it fails.
template <typename... Parameters, typename... Arguments>
void call(ingot_status (*function)(Parameters...), Arguments&&... arguments) {
  ingot_error error = {};
  if (function(std::forward<Arguments>(arguments)..., &error) != INGOT_OK) throw Failure(error);
}

// The element type that stands for a C++ type; 0 for those that stand for several or none (uint16_t may be a bf16).
template <typename T>
constexpr int dtype_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, float>) return INGOT_F32;
  if constexpr (std::is_same_v<U, double>) return INGOT_F64;
  if constexpr (std::is_same_v<U, int8_t>) return INGOT_I8;
  if constexpr (std::is_same_v<U, int16_t>) return INGOT_I16;
  if constexpr (std::is_same_v<U, int32_t>) return INGOT_I32;
  if constexpr (std::is_same_v<U, int64_t>) return INGOT_I64;
  if constexpr (std::is_same_v<U, uint32_t>) return INGOT_U32;
  if constexpr (std::is_same_v<U, uint64_t>) return INGOT_U64;
  return 0;
}

// Bytes at a multiple of an alignment, not initialized; many of them in large pages, where the system has any: these are
// read faster.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  AlignedBytes(uint64_t byte_count, uint64_t alignment_bytes)
      : AlignedBytes(byte_count, std::align_val_t(byte_count < kLargePageBytes || alignment_bytes > kLargePageBytes
                                                      ? alignment_bytes
                                                      : kLargePageBytes)) {}
  std::byte* data() const { return bytes_.get(); }
  uint64_t size() const { return byte_count_; }

 private:
  static constexpr uint64_t kLargePageBytes = uint64_t{2} << 20;

  struct Delete {
    std::align_val_t alignment;
    void operator()(std::byte* bytes) const { ::operator delete(bytes, alignment); }
  };

  AlignedBytes(uint64_t byte_count, std::align_val_t alignment)
      : bytes_(static_cast<std::byte*>(::operator new(byte_count, alignment)), Delete{alignment}),
        byte_count_(byte_count) {
#ifdef MADV_HUGEPAGE
    if (byte_count >= kLargePageBytes) madvise(data(), byte_count / kLargePageBytes * kLargePageBytes, MADV_HUGEPAGE);
#endif
  }

  std::unique_ptr<std::byte, Delete> bytes_;
  uint64_t byte_count_ = 0;
};

// The bytes of a file in memory of its own.
class File {
 public:
  File() = default;
  explicit File(const std::string& path) : free_(ingot_free_file) { call(ingot_read_file, path.c_str(), &file_); }
  File(File&& other) noexcept { swap(other); }
  File& operator=(File&& other) noexcept {
    swap(other);
    return *this;
  }
  ~File() {
    if (free_) free_(&file_);
  }
  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(file_.bytes), file_.byte_count}; }

 private:
  void swap(File& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(free_, other.free_);
  }

  ingot_file file_ = {};
  void (*free_)(ingot_file*) = nullptr;  // of the engine; programs without files can have one that lacks it
};

// An opened bundle. Immutable; may be shared by threads. Outlives its sessions.
class Bundle {
 public:
  explicit Bundle(const std::string& path, const ingot_open_options* options = nullptr) {
    if (options && options->bundle_check) {
      open_checked(path, *options);
      return;
    }
    call(ingot_probe_file_with, path.c_str(), options, &needs_);
    memory_ = AlignedBytes(needs_.bundle_bytes, needs_.alignment_bytes);
    call(ingot_open_file, path.c_str(), options, memory_.data(), memory_.size(), &bundle_);
  }

  // From bytes at a multiple of 64, which are not copied and outlive the bundle.
  explicit Bundle(std::span<const std::byte> bytes, const ingot_open_options* options = nullptr) {
    open_bytes(bytes, options);
  }

  Bundle(Bundle&& other) noexcept { *this = std::move(other); }
  Bundle& operator=(Bundle&& other) noexcept {
    std::swap(needs_, other.needs_);
    std::swap(file_, other.file_);
    std::swap(memory_, other.memory_);
    std::swap(bundle_, other.bundle_);
    return *this;
  }
  ~Bundle() { ingot_close(bundle_); }

  const ingot_bundle* get() const { return bundle_; }
  const ingot_requirements& needs() const { return needs_; }

  ingot_bundle_info info() const {
    ingot_bundle_info info = {};
    ingot_get_bundle_info(bundle_, &info);
    return info;
  }
  ingot_entry_info entry(uint32_t index) const {
    ingot_entry_info info = {};
    call(ingot_get_entry_info, bundle_, index, &info);
    return info;
  }
  ingot_tensor_info input(uint32_t entry, uint32_t index) const {
    return tensor([&](auto* info) { call(ingot_get_input_info, bundle_, entry, index, info); });
  }
  // The bytes of its default value, or null.
  const std::byte* input_default(uint32_t entry, uint32_t index) const {
    const void* value = nullptr;
    call(ingot_get_input_default, bundle_, entry, index, &value);
    return static_cast<const std::byte*>(value);
  }
  ingot_tensor_info output(uint32_t entry, uint32_t index) const {
    return tensor([&](auto* info) { call(ingot_get_output_info, bundle_, entry, index, info); });
  }
  ingot_tensor_info state(uint32_t index) const {
    return tensor([&](auto* info) { call(ingot_get_state_info, bundle_, index, info); });
  }

  // By name, or any unambiguous dotted suffix of it.
  uint32_t find_entry(const std::string& name) const {
    return find([&](auto* out) { call(ingot_find_entry, bundle_, name.c_str(), out); });
  }
  uint32_t find_input(uint32_t entry, const std::string& name) const {
    return find([&](auto* out) { call(ingot_find_input, bundle_, entry, name.c_str(), out); });
  }
  uint32_t find_output(uint32_t entry, const std::string& name) const {
    return find([&](auto* out) { call(ingot_find_output, bundle_, entry, name.c_str(), out); });
  }
  uint32_t find_state(const std::string& name) const {
    return find([&](auto* out) { call(ingot_find_state, bundle_, name.c_str(), out); });
  }

 private:
  void open_bytes(std::span<const std::byte> bytes, const ingot_open_options* options) {
    call(ingot_probe_memory_with, bytes.data(), bytes.size(), options, &needs_);
    memory_ = AlignedBytes(needs_.bundle_bytes, needs_.alignment_bytes);
    call(ingot_open_memory, bytes.data(), bytes.size(), options, memory_.data(), memory_.size(), &bundle_);
  }

  // Checks the bundle once, where probe and open would each do it.
  void open_checked(const std::string& path, ingot_open_options options) {
    file_ = File(path);
    call(options.bundle_check, options.bundle_check_user, file_.bytes().data(), file_.bytes().size());
    options.bundle_check = nullptr;
    open_bytes(file_.bytes(), &options);
  }

  template <typename Get>
  static ingot_tensor_info tensor(const Get& get) {
    ingot_tensor_info info = {};
    get(&info);
    return info;
  }
  template <typename Get>
  static uint32_t find(const Get& get) {
    uint32_t index = 0;
    get(&index);
    return index;
  }

  ingot_requirements needs_ = {};
  File file_;  // if it was checked
  AlignedBytes memory_;
  ingot_bundle* bundle_ = nullptr;
};

// Throws unless a tensor's elements are of type T. Types without a name of their own need only have the size.
template <typename T>
void check_type(const ingot_tensor_info& tensor) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < tensor.rank; ++i) count *= tensor.dims[i];
  const int dtype = dtype_of<T>();
  if (dtype == 0 ? count * sizeof(T) == tensor.bytes : dtype == static_cast<int>(tensor.dtype)) return;
  ingot_error error = {INGOT_WRONG_TYPE, ""};
  const std::string text = std::string("'") + tensor.name + "' has elements of type " + ingot_dtype_name(tensor.dtype);
  text.copy(error.text, sizeof error.text - 1);
  throw Failure(error);
}

// The type of a tensor: its elements and its shape. Headers that `ingot header` writes have one for each port.
template <typename T, uint64_t... dims>
struct TensorType {
  using Element = T;
  static constexpr std::array<uint64_t, sizeof...(dims)> shape = {dims...};
  static constexpr size_t count = (size_t{1} * ... * dims);
  using Span = std::span<T, count>;
  using ConstSpan = std::span<const T, count>;
};

// Throws unless a tensor is of this type.
template <typename Type>
void check_tensor_type(const ingot_tensor_info& tensor) {
  check_type<typename Type::Element>(tensor);
  bool is_equal = tensor.rank == Type::shape.size();
  for (uint32_t i = 0; is_equal && i < tensor.rank; ++i) is_equal = tensor.dims[i] == Type::shape[i];
  if (is_equal) return;
  ingot_error error = {INGOT_WRONG_TYPE, ""};
  const std::string text = std::string("'") + tensor.name +
                           "' has another shape than the header that the program was " +
                           "built with; make the header from this bundle";
  text.copy(error.text, sizeof error.text - 1);
  throw Failure(error);
}

class Session;

// An entry point of a session. Small; valid as long as the session.
class Entry {
 public:
  // The memory bound to an input or output: the caller's, or else the session's own:
  // the default value or zero at first.
  template <typename T>
  std::span<T> input(const std::string& name) const;
  template <typename T>
  std::span<const T> output(const std::string& name) const;

  // The same for a tensor whose type is known when the program is built.
  template <typename Type>
  typename Type::Span input_of(const std::string& name) const;
  template <typename Type>
  typename Type::ConstSpan output_of(const std::string& name) const;

  // Binds the caller's memory, at a multiple of 64, in the place of the session's. It outlives its last run.
  template <typename T>
  void bind_input(const std::string& name, std::span<const T> data) const;
  template <typename T>
  void bind_output(const std::string& name, std::span<T> data) const;

  void run() const;

  // Runs on until `deadline_ns` of CLOCK_MONOTONIC or for `step_limit` steps (0: no limit); true once complete.
  bool run_slice(uint32_t step_limit, uint64_t deadline_ns) const;

  uint32_t index() const { return index_; }

 private:
  friend class Session;
  Entry(Session* session, uint32_t index) : session_(session), index_(index) {}

  Session* session_;
  uint32_t index_;
};

// One running instance of a bundle, with its memory. Not to be moved; used by one thread at a time.
class Session {
 public:
  explicit Session(const Bundle& bundle, uint32_t threads = 1)
      : bundle_(bundle),
        instance_(bundle.needs().session_bytes + count(threads) * bundle.needs().session_bytes_per_thread,
                  bundle.needs().alignment_bytes),
        arena_(bundle.needs().arena_bytes, bundle.needs().alignment_bytes),
        state_(bundle.needs().state_bytes, bundle.needs().alignment_bytes),
        scratch_(count(threads) * bundle.needs().scratch_bytes_per_thread, bundle.needs().alignment_bytes) {
    const ingot_memory memory = {instance_.data(), instance_.size(), arena_.data(),   arena_.size(), state_.data(),
                                 state_.size(),    scratch_.data(),  scratch_.size(), threads};
    call(ingot_create, bundle.get(), &memory, &session_);
  }
  // In memory of the caller's, as much as needs() says, which outlives the session.
  Session(const Bundle& bundle, const ingot_memory& memory) : bundle_(bundle) {
    call(ingot_create, bundle.get(), &memory, &session_);
  }
  ~Session() { ingot_destroy(session_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  ingot_session* get() const { return session_; }
  const Bundle& bundle() const { return bundle_; }

  // With memory of the session's own bound to each input and output.
  Entry entry(const std::string& name) { return entry(bundle_.find_entry(name)); }
  Entry entry(uint32_t index) {
    const ingot_entry_info info = bundle_.entry(index);
    for (uint32_t i = 0; i < info.input_count; ++i) provide(index, i, true, bundle_.input(index, i));
    for (uint32_t i = 0; i < info.output_count; ++i) provide(index, i, false, bundle_.output(index, i));
    return Entry(this, index);
  }

  template <typename T>
  std::vector<T> read(const std::string& name) const {
    const uint32_t index = bundle_.find_state(name);
    const ingot_tensor_info tensor = bundle_.state(index);
    check_type<T>(tensor);
    std::vector<T> values(tensor.bytes / sizeof(T));
    T none;
    call(ingot_read_state, session_, index, values.empty() ? &none : values.data(), tensor.bytes);
    return values;
  }
  template <typename T>
  void write(const std::string& name, std::span<const T> values) {
    const uint32_t index = bundle_.find_state(name);
    check_type<T>(bundle_.state(index));
    const T none{};
    call(ingot_write_state, session_, index, values.empty() ? &none : values.data(), values.size_bytes());
  }

  void save(const std::string& path) const { call(ingot_save_state, session_, path.c_str()); }
  void load(const std::string& path, uint32_t flags = 0) { call(ingot_load_state, session_, path.c_str(), flags); }

  // The same bytes, in memory.
  std::vector<std::byte> save_to_memory() const {
    uint64_t byte_count = 0;
    call(ingot_save_state_memory, session_, nullptr, nullptr, 0, &byte_count);
    std::vector<std::byte> bytes(byte_count);
    call(ingot_save_state_memory, session_, nullptr, bytes.data(), bytes.size(), &byte_count);
    return bytes;
  }
  void load_from_memory(std::span<const std::byte> bytes, uint32_t flags = 0) {
    call(ingot_load_state_memory, session_, bytes.data(), bytes.size(), flags, nullptr, uint64_t{0});
  }

  AlignedBytes snapshot() const {
    AlignedBytes bytes(bundle_.needs().state_bytes, 64);
    call(ingot_snapshot, session_, bytes.data(), bytes.size());
    return bytes;
  }
  void rollback(const AlignedBytes& snapshot) { call(ingot_rollback, session_, snapshot.data(), snapshot.size()); }

  ingot_metrics metrics() const {
    ingot_metrics metrics = {};
    ingot_get_metrics(session_, &metrics);
    return metrics;
  }

 private:
  friend class Entry;

  static uint64_t count(uint32_t threads) { return threads == 0 ? 1 : threads; }

  // What is bound to one input or output.
  struct Port {
    AlignedBytes own;  // empty if the memory is the caller's
    std::byte* data = nullptr;
    ingot_tensor_info tensor = {};
  };
  using PortKey = std::pair<uint32_t, std::pair<bool, uint32_t>>;  // entry, is input, index

  void provide(uint32_t entry, uint32_t index, bool is_input, const ingot_tensor_info& tensor) {
    Port& port = ports_[{entry, {is_input, index}}];
    if (port.data) return;
    port.tensor = tensor;
    port.own = AlignedBytes(tensor.bytes, 64);
    const std::byte* first = is_input ? bundle_.input_default(entry, index) : nullptr;
    if (first) {
      std::memcpy(port.own.data(), first, tensor.bytes);
    } else if (tensor.bytes > 0) {
      std::memset(port.own.data(), 0, tensor.bytes);
    }
    bind(entry, index, is_input, port.own.data(), tensor.bytes);
  }

  void bind(uint32_t entry, uint32_t index, bool is_input, const void* data, uint64_t bytes) {
    auto* mutable_data = static_cast<std::byte*>(const_cast<void*>(data));
    if (is_input) {
      call(ingot_bind_input, session_, entry, index, data, bytes);
    } else {
      call(ingot_bind_output, session_, entry, index, mutable_data, bytes);
    }
    Port& port = ports_[{entry, {is_input, index}}];
    port.data = mutable_data;
    if (port.own.data() != mutable_data) port.own = AlignedBytes();
  }

  const Port& port(uint32_t entry, bool is_input, uint32_t index) const {
    return ports_.at({entry, {is_input, index}});
  }

  const Bundle& bundle_;
  AlignedBytes instance_, arena_, state_, scratch_;  // empty if they are the caller's
  std::map<PortKey, Port> ports_;
  ingot_session* session_ = nullptr;
};

template <typename T>
std::span<T> Entry::input(const std::string& name) const {
  const auto& port = session_->port(index_, true, session_->bundle_.find_input(index_, name));
  check_type<T>(port.tensor);
  return {reinterpret_cast<T*>(port.data), port.tensor.bytes / sizeof(T)};
}

template <typename T>
std::span<const T> Entry::output(const std::string& name) const {
  const auto& port = session_->port(index_, false, session_->bundle_.find_output(index_, name));
  check_type<T>(port.tensor);
  return {reinterpret_cast<const T*>(port.data), port.tensor.bytes / sizeof(T)};
}

template <typename Type>
typename Type::Span Entry::input_of(const std::string& name) const {
  const auto& port = session_->port(index_, true, session_->bundle_.find_input(index_, name));
  check_tensor_type<Type>(port.tensor);
  return typename Type::Span(reinterpret_cast<typename Type::Element*>(port.data), Type::count);
}

template <typename Type>
typename Type::ConstSpan Entry::output_of(const std::string& name) const {
  const auto& port = session_->port(index_, false, session_->bundle_.find_output(index_, name));
  check_tensor_type<Type>(port.tensor);
  return typename Type::ConstSpan(reinterpret_cast<const typename Type::Element*>(port.data), Type::count);
}

template <typename T>
void Entry::bind_input(const std::string& name, std::span<const T> data) const {
  const uint32_t input = session_->bundle_.find_input(index_, name);
  check_type<T>(session_->bundle_.input(index_, input));
  session_->bind(index_, input, true, data.data(), data.size_bytes());
}

template <typename T>
void Entry::bind_output(const std::string& name, std::span<T> data) const {
  const uint32_t output = session_->bundle_.find_output(index_, name);
  check_type<T>(session_->bundle_.output(index_, output));
  session_->bind(index_, output, false, data.data(), data.size_bytes());
}

inline void Entry::run() const { call(ingot_run, session_->session_, index_); }

inline bool Entry::run_slice(uint32_t step_limit, uint64_t deadline_ns) const {
  int32_t finished = 0;
  call(ingot_run_slice, session_->session_, index_, step_limit, deadline_ns, &finished);
  return finished != 0;
}

}  // namespace ingot::engine
