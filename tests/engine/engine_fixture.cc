#include "tests/engine/engine_fixture.h"

#include <unistd.h>

#include <filesystem>

#include "schema/bundle_generated.h"
#include "schema/checksum.h"
#include "schema/plan_records.h"
#include "tests/engine/engine_kernels.h"

namespace ingot::test {
namespace {

using bundle::Operand;
using bundle::Parameter;

constexpr uint64_t kVectorBytes = sizeof(float) * kElements;

Parameter reads(uint64_t bytes) { return {bytes, true, false}; }
Parameter writes(uint64_t bytes) { return {bytes, false, true}; }
Parameter changes(uint64_t bytes) { return {bytes, true, true}; }
Parameter reads_before(uint32_t writer, uint64_t bytes) { return {bytes, true, false, writer}; }

Operand arena(uint64_t offset_bytes, uint32_t buffer) { return {INGOT_BASE_ARENA, offset_bytes, buffer}; }
Operand rodata(uint64_t offset_bytes) { return {INGOT_BASE_RODATA, offset_bytes, 0}; }
Operand port(uint32_t index) { return {INGOT_BASE_IO + index, 0, 0}; }

const Operand kWeights = {INGOT_BASE_STATE, 0, kWeight};
const Operand kSteps = {INGOT_BASE_STATE, kVectorBytes, kStep};

bundle::Target fit_target() {
  bundle::Target target = host_target();
  const int32_t one = 1;
  target.rodata.resize(64 + sizeof one);
  std::memcpy(target.rodata.data() + 64, &one, sizeof one);

  target.kernels = {
      host_kernel("fill_weights", fill_weights, kTasks, {reads(4), writes(kVectorBytes)}),
      host_kernel("multiply", multiply, kTasks, {reads(kVectorBytes), reads(kVectorBytes), writes(kVectorBytes)}),
      host_kernel("difference", difference, kTasks,
                  {reads_before(2, kVectorBytes), reads(kVectorBytes), writes(kVectorBytes), writes(4 * kTasks)}),
      host_kernel("total", total, 1, {reads(4 * kTasks), writes(4)}),
      host_kernel("update", update, kTasks,
                  {reads(kVectorBytes), reads(kVectorBytes), reads(4), changes(kVectorBytes)}),
      host_kernel("count", count, 1, {reads(4), changes(4)}),
  };
  target.kernels[kUpdate].scratch_bytes = kVectorBytes / kTasks;
  return target;
}

bundle::Plan init_plan() {
  bundle::Plan plan;
  plan.steps = {{kFill, false, {port(0), kWeights}}};
  return plan;
}

bundle::Plan train_plan() {
  bundle::Plan plan;
  plan.arena_bytes = kVectorBytes + 64;
  plan.lower_bound_bytes = plan.arena_bytes;
  plan.buffers = {
      {0, kVectorBytes, 0, 1, std::nullopt},   // 0 h
      {kVectorBytes, 64, 1, 2, std::nullopt},  // 1 partial
      {0, kVectorBytes, 1, 3, 0},              // 2 d, in place of h
  };
  const Operand h = arena(0, 0), partial = arena(kVectorBytes, 1), d = arena(0, 2);
  const Operand x = port(0), y = port(1), lr = port(2), loss = port(3);
  plan.steps = {
      {kMultiply, false, {x, kWeights, h}},   {kDifference, true, {h, y, d, partial}}, {kTotal, true, {partial, loss}},
      {kUpdate, false, {d, x, lr, kWeights}}, {kCount, false, {rodata(64), kSteps}},
  };
  return plan;
}

bundle::Plan predict_plan() {
  bundle::Plan plan;
  plan.steps = {{kMultiply, false, {port(0), kWeights, port(1)}}};
  return plan;
}

}  // namespace

bundle::Kernel host_kernel(const char* name, ingot_kernel function, uint32_t task_count,
                           std::vector<Parameter> parameters) {
  bundle::Kernel k;
  k.name = name;
  k.code_offset = static_cast<uint32_t>(reinterpret_cast<const uint8_t*>(function) - __start_ingot_kernels);
  k.task_count = task_count;
  k.parameters = std::move(parameters);
  return k;
}

bundle::Target host_target() {
  bundle::Target target;
  target.name = "host";
#if defined(__x86_64__)
  target.isa = "x86-64";
  target.cpu_features = {"sse2"};
#elif defined(__aarch64__)
  target.isa = "aarch64";
  target.cpu_features = {"neon"};
#else
  target.isa = "riscv64";
  target.cpu_features = {"d"};
#endif
  const auto* image = reinterpret_cast<const std::byte*>(__start_ingot_kernels);
  target.code.assign(image, image + (__stop_ingot_kernels - __start_ingot_kernels));
  return target;
}

bundle::BundleSpec fit_spec() {
  bundle::BundleSpec spec;
  spec.producer = "ingot tests";
  spec.name = "fit";
  const bundle::Tensor x{"batch.x", INGOT_F32, {kElements}}, y{"batch.y", INGOT_F32, {kElements}};
  spec.entries = {
      {"init", {{"seed", INGOT_I32, {}}}, {}},
      {"train_step", {x, y, {"lr", INGOT_F32, {}}}, {{"loss", INGOT_F32, {}}}},
      {"predict", {x}, {{"y", INGOT_F32, {kElements}}}},
  };
  spec.states = {
      {{"model.fit.weight", INGOT_F32, {kElements / 2, 2}}, "param", 0, bundle::Start::kUnset},
      {{"optimizer.step", INGOT_I32, {}}, "step", kVectorBytes, bundle::Start::kZero},
      {{"model.bias", INGOT_BF16, {3}}, "buffer", kVectorBytes + 64, bundle::Start::kSegment},
  };
  const float scale[] = {1, 2};
  spec.frozen = {{{"model.scale", INGOT_F32, {2}}, ingot_checksum(scale, sizeof scale)}};
  spec.state_bytes = kVectorBytes + 128;
  spec.initial_state = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}, std::byte{6}};
  spec.targets = {fit_target()};
  spec.targets[0].plans = {init_plan(), train_plan(), predict_plan()};
  return spec;
}

ingot_bundle_header header_of(const std::vector<std::byte>& file) {
  ingot_bundle_header header;
  std::memcpy(&header, file.data(), sizeof header);
  return header;
}

std::vector<std::byte> with_header(std::vector<std::byte> file, ingot_bundle_header header) {
  header.header_checksum = ingot_checksum(&header, offsetof(ingot_bundle_header, header_checksum));
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

std::vector<std::byte> resealed(const std::vector<std::byte>& file) {
  ingot_bundle_header header = header_of(file);
  header.metadata_checksum = ingot_checksum(file.data() + header.metadata_offset, header.metadata_bytes);
  return with_header(file, header);
}

std::span<ingot_segment_record> segments_of(std::vector<std::byte>& file) {
  const auto* segments = schema::GetBundle(file.data() + header_of(file).metadata_offset)->segments();
  auto* first = reinterpret_cast<ingot_segment_record*>(const_cast<uint8_t*>(segments->Data()));
  return {first, segments->size()};
}

void forget_rodata(std::vector<std::byte>& file, uint32_t target) {
  const auto* all = schema::GetBundle(file.data() + header_of(file).metadata_offset)->targets();
  const auto* table = reinterpret_cast<const flatbuffers::Table*>(all->Get(target));
  const uint32_t none = INGOT_NONE;
  std::memcpy(const_cast<uint8_t*>(table->GetAddressOf(schema::Target::VT_RODATA)), &none, sizeof none);
}

Block::Block(uint64_t byte_count, uint64_t alignment_bytes) : byte_count_(byte_count) {
  void* data = nullptr;
  if (posix_memalign(&data, alignment_bytes, byte_count == 0 ? 1 : byte_count) != 0) std::abort();
  data_.reset(data);
}

OpenBundle::OpenBundle(const std::vector<std::byte>& contents, const ingot_open_options* options)
    : bytes(std::make_unique<Block>(contents.size())) {
  if (!contents.empty()) std::memcpy(bytes->data(), contents.data(), contents.size());
  open([&] { return ingot_probe_memory_with(bytes->data(), bytes->size(), options, &needs, &error); },
       [&] {
         return ingot_open_memory(bytes->data(), bytes->size(), options, memory->data(), memory->size(), &bundle,
                                  &error);
       });
}

OpenBundle::OpenBundle(const std::string& path, const ingot_open_options* options) {
  open([&] { return ingot_probe_file_with(path.c_str(), options, &needs, &error); },
       [&] { return ingot_open_file(path.c_str(), options, memory->data(), memory->size(), &bundle, &error); });
}

void OpenBundle::open(const std::function<ingot_status()>& probe, const std::function<ingot_status()>& open_it) {
  status = probe();
  if (status != INGOT_OK) return;
  memory = std::make_unique<Block>(needs.bundle_bytes);
  status = open_it();
}

OpenSession::OpenSession(const OpenBundle& from, uint32_t threads)
    : instance(from.needs.session_bytes + threads * from.needs.session_bytes_per_thread, from.needs.alignment_bytes),
      arena(from.needs.arena_bytes, from.needs.alignment_bytes),
      state(from.needs.state_bytes, from.needs.alignment_bytes),
      scratch(threads * from.needs.scratch_bytes_per_thread, from.needs.alignment_bytes) {
  const ingot_memory memory = {instance.data(), instance.size(), arena.data(),   arena.size(), state.data(),
                               state.size(),    scratch.data(),  scratch.size(), threads};
  status = ingot_create(from.bundle, &memory, &session, &error);
}

FitPorts::FitPorts(ingot_session* session, bool binds_lr) {
  *seed.as<int32_t>() = 7;
  *lr.as<float>() = 0.125f;
  for (int i = 0; i < kElements; ++i) {
    x.as<float>()[i] = 1.0f + static_cast<float>(i % 7) * 0.25f;
    y.as<float>()[i] = static_cast<float>(i % 5) - 2.0f;
  }
  const auto bind_input = [&](uint32_t entry, uint32_t input, const Block& block) {
    ingot_error error = {};
    EXPECT_EQ(ingot_bind_input(session, entry, input, block.data(), block.size(), &error), INGOT_OK) << error.text;
  };
  const auto bind_output = [&](uint32_t entry, uint32_t output, const Block& block) {
    ingot_error error = {};
    EXPECT_EQ(ingot_bind_output(session, entry, output, block.data(), block.size(), &error), INGOT_OK) << error.text;
  };
  bind_input(kInit, 0, seed);
  bind_input(kTrainStep, 0, x);
  bind_input(kTrainStep, 1, y);
  if (binds_lr) bind_input(kTrainStep, 2, lr);
  bind_output(kTrainStep, 0, loss);
  bind_input(kPredict, 0, x);
  bind_output(kPredict, 0, prediction);
}

FitTest::FitTest() {
  EXPECT_EQ(bundle.status, INGOT_OK) << bundle.error.text;
  EXPECT_EQ(open.status, INGOT_OK) << open.error.text;
}

void FitTest::init_and_train(int steps) {
  ASSERT_EQ(ingot_run(open.session, kInit, nullptr), INGOT_OK);
  for (int i = 0; i < steps; ++i) ASSERT_EQ(ingot_run(open.session, kTrainStep, nullptr), INGOT_OK);
}

std::string refusal(const bundle::BundleSpec& spec) {
  const OpenBundle bundle(bundle::write_bundle(spec));
  if (bundle.status == INGOT_OK) return "";
  EXPECT_EQ(bundle.status, INGOT_BAD_PLAN);
  return bundle.error.text;
}

}  // namespace ingot::test
