// Bundles that lie, with checksums put right: each is refused, or stays within its memory. And damaged ones as they are.
#include <algorithm>
#include <iostream>
#include <random>

#include "engine/src/checksum.h"
#include "tests/engine/engine_flow.h"
#include "tests/engine/engine_kernels.h"
#include "tests/support/environment.h"
#include "tests/support/guarded_block.h"

namespace ingot::test {
namespace {

using Bytes = std::vector<std::byte>;

// Blocks for the largest that a changed bundle may ask for; made once, since making them is slow.
constexpr uint64_t kMostBytes = 1 << 16;

struct GuardedMemory {
  GuardedBlock file{kMostBytes}, bundle{kMostBytes}, session{kMostBytes}, arena{kMostBytes}, state{kMostBytes},
      scratch{kMostBytes}, ports[8] = {GuardedBlock(kMostBytes), GuardedBlock(kMostBytes), GuardedBlock(kMostBytes),
                                       GuardedBlock(kMostBytes), GuardedBlock(kMostBytes), GuardedBlock(kMostBytes),
                                       GuardedBlock(kMostBytes), GuardedBlock(kMostBytes)};
};

// What is done with a bundle that the engine accepts.
enum class Accepted { kIsOpened, kIsRun };

// Runs a slice of every entry, in memory of just the size that the bundle asks for: a kernel that left it would fault.
void run_all(const GuardedMemory& memory, ingot_bundle* bundle, const ingot_requirements& needs) {
  const auto aligned_tail = [&](const GuardedBlock& block, uint64_t bytes) {
    auto address = reinterpret_cast<uintptr_t>(block.tail(bytes));
    return reinterpret_cast<void*>(address / needs.alignment_bytes * needs.alignment_bytes);
  };
  const uint64_t session_bytes = needs.session_bytes + needs.session_bytes_per_thread;
  const ingot_memory blocks = {aligned_tail(memory.session, session_bytes),
                               session_bytes,
                               aligned_tail(memory.arena, needs.arena_bytes),
                               needs.arena_bytes,
                               aligned_tail(memory.state, needs.state_bytes),
                               needs.state_bytes,
                               aligned_tail(memory.scratch, needs.scratch_bytes_per_thread),
                               needs.scratch_bytes_per_thread,
                               1};
  ingot_session* session = nullptr;
  if (ingot_create(bundle, &blocks, &session, nullptr) != INGOT_OK) return;
  ingot_bundle_info info;
  ingot_get_bundle_info(bundle, &info);
  for (uint32_t entry = 0; entry < info.entry_count; ++entry) {
    ingot_entry_info ports;
    ingot_get_entry_info(bundle, entry, &ports, nullptr);
    uint32_t block = 0;
    for (uint32_t i = 0; i < ports.input_count && block < 8; ++i, ++block) {
      ingot_tensor_info tensor;
      ingot_get_input_info(bundle, entry, i, &tensor, nullptr);
      if (tensor.bytes <= kMostBytes) {
        ingot_bind_input(session, entry, i, memory.ports[block].tail(tensor.bytes), tensor.bytes, nullptr);
      }
    }
    for (uint32_t i = 0; i < ports.output_count && block < 8; ++i, ++block) {
      ingot_tensor_info tensor;
      ingot_get_output_info(bundle, entry, i, &tensor, nullptr);
      if (tensor.bytes <= kMostBytes) {
        ingot_bind_output(session, entry, i, memory.ports[block].tail(tensor.bytes), tensor.bytes, nullptr);
      }
    }
    int32_t finished = 0;  // in a slice, since a changed loop may be endless
    ingot_run_slice(session, entry, 500, 0, &finished, nullptr);
    ingot_abandon_run(session);
  }
  ingot_destroy(session);
}

// Whether the engine accepts the bundle in `file`.
bool open_and_run(const GuardedMemory& memory, const void* file, uint64_t file_bytes, Accepted accepted) {
  ingot_requirements needs;
  if (ingot_probe_memory(file, file_bytes, &needs, nullptr) != INGOT_OK) return false;
  const uint64_t most =
      std::max({needs.bundle_bytes, needs.session_bytes + needs.session_bytes_per_thread, needs.arena_bytes,
                needs.state_bytes, needs.scratch_bytes_per_thread, needs.alignment_bytes});
  if (most > kMostBytes) return true;  // honest about it: the host may say no
  ingot_bundle* bundle = nullptr;
  if (ingot_open_memory(file, file_bytes, nullptr, memory.bundle.tail(needs.bundle_bytes), needs.bundle_bytes, &bundle,
                        nullptr) != INGOT_OK) {
    return false;
  }
  if (accepted == Accepted::kIsRun) run_all(memory, bundle, needs);
  ingot_close(bundle);
  return true;
}

// Bundles of straight steps, and of loops and branches.
Bytes straight_bundle() { return bundle::write_bundle(fit_spec()); }

Bytes branching_bundle() {
  FlowBuilder b;
  const bundle::Operand v = b.vector(), index = b.word(), odd = b.flag();
  b.step(kMixTogether, {b.x(), b.x(), v});
  b.count_to(b.constant(3), [&] {
    b.step(kPick, {v, index});
    b.choose(index, {[&] { b.step(kMixAlone, {v, b.x(), v}); }, [&] {}, [&] { b.step(kMixTogether, {v, v, v}); }});
    b.step(kIsOdd, {v, odd});
    b.choose_by_flag(odd, [&] { b.count_to(b.n(), [&] { b.step(kMixAlone, {v, v, v}); }); }, [&] {});
  });
  for (uint32_t row = 0; row < 4; ++row) b.step(kMixTogether, {v, b.x(), b.y(row)});
  return bundle::write_bundle(b.finish());
}

// One with as many kernels again that no step calls.
Bytes bundle_of_more_kernels() {
  bundle::BundleSpec spec = fit_spec();
  std::vector<bundle::Kernel>& kernels = spec.targets[0].kernels;
  kernels.resize(2 * kernels.size(), kernels[0]);
  return bundle::write_bundle(spec);
}

// A stretch of a bundle, whose bytes are changed; and what makes its checksums right again.
struct Stretch {
  uint64_t offset, bytes;
  Bytes (*seal)(const Bytes& file);
};

Bytes seal_header(const Bytes& file) { return with_header(file, header_of(file)); }

Bytes seal_code(const Bytes& file) {
  Bytes sealed = file;
  ingot_segment_record& code = segments_of(sealed)[0];
  code.checksum = engine::checksum(sealed.data() + code.offset, code.stored_bytes);
  return resealed(sealed);
}

Stretch header_stretch(const Bytes&) { return {0, sizeof(ingot_bundle_header), seal_header}; }

Stretch metadata_stretch(const Bytes& good) {
  const ingot_bundle_header header = header_of(good);
  return {header.metadata_offset, header.metadata_bytes, resealed};
}

// What a code segment says of its code.
Stretch code_stretch(const Bytes& good) {
  Bytes file = good;
  const ingot_segment_record& code = segments_of(file)[0];
  ingot_code_header header;
  std::memcpy(&header, good.data() + code.offset, sizeof header);
  const uint64_t bytes = sizeof header + header.kernel_count * sizeof(ingot_kernel_record) +
                         header.parameter_count * sizeof(ingot_parameter_record) + header.features_bytes;
  return {code.offset, bytes, seal_code};
}

// Every byte takes other values. INGOT_CHANGES says in how many ways.
void expect_harmless_changes(const char* what, const Bytes& good, const Stretch& stretch, Accepted accepted) {
  static constexpr int kChanges[] = {0x01, 0x02, 0x08, 0x40, 0x80, 0xff};
  const int64_t change_count = number_from_environment("INGOT_CHANGES", std::size(kChanges));
  const GuardedMemory memory;
  std::byte* file = memory.file.tail(good.size());
  int accepted_count = 0, refused_count = 0;
  for (uint64_t i = 0; i < stretch.bytes; ++i) {
    for (int64_t j = 0; j < change_count; ++j) {
      const int change = change_count == std::size(kChanges) ? kChanges[j] : static_cast<int>(j) + 1;
      Bytes bad = good;
      bad[stretch.offset + i] ^= std::byte(change);
      bad = stretch.seal(bad);
      std::ranges::copy(bad, file);
      (open_and_run(memory, file, bad.size(), accepted) ? accepted_count : refused_count) += 1;
    }
  }
  std::cout << "  " << what << ": " << accepted_count + refused_count << " changes, " << refused_count << " refused, "
            << accepted_count << (accepted == Accepted::kIsRun ? " ran\n" : " opened\n");
  EXPECT_GT(refused_count, accepted_count / 2);
  std::ranges::copy(good, file);
  EXPECT_TRUE(open_and_run(memory, file, good.size(), accepted));
}

TEST(EngineLies, EveryByteOfTheHeader) {
  const Bytes good = straight_bundle();
  expect_harmless_changes("header", good, header_stretch(good), Accepted::kIsRun);
}

TEST(EngineLies, EveryByteOfTheMetadata) {
  for (const Bytes& good : {straight_bundle(), branching_bundle()}) {
    expect_harmless_changes("metadata", good, metadata_stretch(good), Accepted::kIsRun);
  }
}

// What code says of itself is believed, as the code is: such a bundle is opened only.
TEST(EngineLies, EveryByteOfWhatCodeSaysOfItself) {
  for (const Bytes& good : {straight_bundle(), branching_bundle(), bundle_of_more_kernels()}) {
    expect_harmless_changes("code's description", good, code_stretch(good), Accepted::kIsOpened);
  }
}

// INGOT_DAMAGES says how many: bytes that are changed, lost, doubled or moved, and checksums as they are.
TEST(EngineLies, DamagedFiles) {
  const int64_t damages = number_from_environment("INGOT_DAMAGES", 500);
  const Bytes whole[] = {straight_bundle(), branching_bundle()};
  const GuardedMemory memory;
  std::mt19937_64 random(1);
  const auto below = [&](uint64_t count) { return random() % count; };
  int ran = 0;
  for (int64_t i = 0; i < damages; ++i) {
    Bytes bad = whole[below(2)];
    for (uint64_t changes = 1 + below(3); changes > 0; --changes) {
      const uint64_t at = below(bad.size()), count = 1 + below(std::min<uint64_t>(200, bad.size() - at));
      const auto first = bad.begin() + static_cast<ptrdiff_t>(at), last = first + static_cast<ptrdiff_t>(count);
      const uint64_t kind = below(4);
      if (kind == 0) *first = std::byte(below(256));
      if (kind == 1) bad.erase(first, last);
      if (kind == 2) std::rotate(bad.begin(), first, last);
      if (kind == 3) std::fill(first, last, std::byte{0});
    }
    std::byte* file = memory.file.tail(bad.size());
    std::ranges::copy(bad, file);
    ran += open_and_run(memory, file, bad.size(), Accepted::kIsRun);
  }
  std::cout << "  " << damages << " damaged files, of which " << ran << " ran\n";
  EXPECT_LT(ran, damages / 2);
}

// A mapping of a bundle whose code requires a feature with a name of 2 GiB and more, which is one piece of memory again and
// again. Behind it nothing can be read.
class EndlessFeature {
 public:
  EndlessFeature() {
    constexpr uint64_t kNameBytes = kPage - sizeof(ingot_code_header) + kPieceCount * kPieceBytes;
    const int piece = memfd_create("piece", 0);
    const std::string name(kPieceBytes, 'q');
    if (piece < 0 || write(piece, name.data(), name.size()) != static_cast<ssize_t>(name.size())) std::abort();
    map_ = static_cast<std::byte*>(mmap(nullptr, kFileBytes + kPage, PROT_NONE, kFlags | MAP_ANONYMOUS, -1, 0));
    for (uint64_t i = 0; i < kPieceCount; ++i) {
      mmap(map_ + kPieceBytes * (i + 1), kPieceBytes, PROT_READ, MAP_SHARED | MAP_FIXED, piece, 0);
    }
    close(piece);
    mprotect(map_, kPieceBytes, PROT_READ | PROT_WRITE);
    mprotect(map_ + kFileBytes - kPage, kPage, PROT_READ);

    Bytes good = straight_bundle();
    ingot_segment_record& segment = segments_of(good)[0];
    ingot_code_header code;
    std::memcpy(&code, good.data() + segment.offset, sizeof code);
    code.kernel_count = code.parameter_count = 0;
    code.features_bytes = static_cast<uint32_t>(kNameBytes);
    code.image_offset = kFileBytes - kPage - kSegmentAt;
    code.image_bytes = kPage;
    std::memset(map_ + kSegmentAt, 'q', kPage);
    std::memcpy(map_ + kSegmentAt, &code, sizeof code);
    segment.offset = kSegmentAt;
    segment.bytes = segment.stored_bytes = kFileBytes - kSegmentAt;
    segment.checksum = engine::checksum(map_ + kSegmentAt, segment.bytes);
    ingot_bundle_header header = header_of(good);
    header.file_bytes = kFileBytes;
    good = resealed(with_header(good, header));
    std::memcpy(map_, good.data(), good.size());
  }
  ~EndlessFeature() { munmap(map_, kFileBytes + kPage); }
  const void* data() const { return map_; }
  static constexpr uint64_t size() { return kFileBytes; }

 private:
  static constexpr int kFlags = MAP_PRIVATE | MAP_NORESERVE;
  static constexpr uint64_t kPage = 4096, kPieceBytes = 1 << 20, kPieceCount = 2049;
  static constexpr uint64_t kSegmentAt = kPieceBytes - kPage, kFileBytes = kPieceBytes * (kPieceCount + 1) + kPage;

  std::byte* map_;
};

// Its length is no `int`.
TEST(EngineLies, AFeatureNameOfTwoGibibytesIsShownInPart) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the sanitizer takes several times the memory, and minutes";
#endif
#endif
  const EndlessFeature bundle;
  ingot_requirements needs;
  ingot_error error = {};
  EXPECT_EQ(ingot_probe_memory(bundle.data(), bundle.size(), &needs, &error), INGOT_NO_TARGET);
  EXPECT_EQ(error.text, "'host' needs '" + std::string(60, 'q') + "', which this processor lacks");
}

}  // namespace
}  // namespace ingot::test
