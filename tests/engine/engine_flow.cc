#include "tests/engine/engine_flow.h"

#include <algorithm>

#include "schema/plan_records.h"

namespace ingot::test {

using bundle::Operand;
using bundle::StepKind;

MixVector mixed(const MixVector& a, const MixVector& b) {
  MixVector out;
  for (uint32_t i = 0; i < kMixElements; ++i) out[i] = a[i] * 1664525u + (b[i] >> 3) + i;
  return out;
}

Operand FlowBuilder::buffer(uint64_t bytes) {
  bundle::Buffer buffer;
  buffer.bytes = bytes;
  plan_.buffers.push_back(buffer);
  uses_.emplace_back();
  return {INGOT_BASE_ARENA, 0, static_cast<uint32_t>(plan_.buffers.size() - 1)};
}

void FlowBuilder::use(const Operand& operand) {
  if (operand.base == INGOT_BASE_ARENA) uses_[operand.index].push_back(step_count());
}

void FlowBuilder::step(uint32_t kernel, const std::vector<Operand>& operands, bool barrier) {
  for (const Operand& operand : operands) use(operand);
  plan_.steps.push_back({kernel, barrier || barrier_next_, operands});
  barrier_next_ = false;
}

uint32_t FlowBuilder::jump_unless(uint32_t value, const Operand& operand, bool word) {
  use(operand);
  plan_.steps.push_back({value, true, {operand}, StepKind::kJumpUnless, 0, word});
  barrier_next_ = true;
  return step_count() - 1;
}

uint32_t FlowBuilder::jump(uint32_t target) {
  plan_.steps.push_back({0, true, {}, StepKind::kJump, target});
  barrier_next_ = true;
  return step_count() - 1;
}

void FlowBuilder::come_to(uint32_t jump) {
  plan_.steps[jump].target = step_count();
  barrier_next_ = true;
}

void FlowBuilder::loop(const Part& condition, const Operand& flag, const Part& body) {
  const uint32_t head = step_count();
  barrier_next_ = true;
  condition();
  const uint32_t test = jump_unless(1, flag, false);
  body();
  const uint32_t back = jump(head);
  come_to(test);
  for (std::vector<uint32_t>& uses : uses_) {
    if (!uses.empty() && uses.front() < head && uses.back() >= head) uses.push_back(back);
  }
}

void FlowBuilder::count_to(const Operand& limit, const Part& body) {
  const Operand counter = word(), more = flag();
  step(kClear, {counter});
  loop([&] { step(kIsBelow, {counter, limit, more}); }, more,
       [&] {
         body();
         step(kAdvance, {counter});
       });
}

void FlowBuilder::choose_from(uint32_t first_value, const Operand& operand, bool word,
                              const std::vector<Part>& branches) {
  std::vector<uint32_t> ends;
  for (uint32_t i = 0; i + 1 < branches.size(); ++i) {
    const uint32_t test = jump_unless(first_value + i, operand, word);
    branches[i]();
    ends.push_back(jump(0));
    come_to(test);
  }
  branches.back()();
  for (uint32_t end : ends) come_to(end);
}

void FlowBuilder::choose(const Operand& word, const std::vector<Part>& branches) {
  choose_from(0, word, true, branches);
}

void FlowBuilder::choose_by_flag(const Operand& flag, const Part& then, const Part& otherwise) {
  choose_from(1, flag, false, {then, otherwise});
}

bundle::BundleSpec FlowBuilder::finish() {
  const auto bytes_of = [](const bundle::Buffer& b) { return (b.bytes + 63) / 64 * 64; };
  for (size_t i = 0; i < plan_.buffers.size(); ++i) {
    bundle::Buffer& buffer = plan_.buffers[i];
    if (uses_[i].empty()) {
      buffer.bytes = 0;
      continue;
    }
    buffer.first_step = uses_[i].front();
    buffer.last_step = uses_[i].back();
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t j = 0; j < i; ++j) {
        const bundle::Buffer& other = plan_.buffers[j];
        if (buffer.first_step <= other.last_step && other.first_step <= buffer.last_step &&
            buffer.offset_bytes < other.offset_bytes + bytes_of(other) &&
            other.offset_bytes < buffer.offset_bytes + bytes_of(buffer)) {
          buffer.offset_bytes = other.offset_bytes + bytes_of(other);
          moved = true;
        }
      }
    }
    plan_.arena_bytes = std::max(plan_.arena_bytes, buffer.offset_bytes + bytes_of(buffer));
  }
  for (bundle::Step& step : plan_.steps) {
    for (Operand& operand : step.operands) {
      if (operand.base == INGOT_BASE_ARENA) operand.offset_bytes = plan_.buffers[operand.index].offset_bytes;
    }
  }

  bundle::BundleSpec spec;
  spec.producer = "ingot tests";
  spec.name = "flow";
  spec.entries = {{"flow",
                   {{"x", INGOT_U32, {kMixElements}}, {"n", INGOT_U32, {}}},
                   {{"y", INGOT_U32, {MixVectors().size(), kMixElements}}}}};
  spec.states = {{{"runs", INGOT_U32, {}}, "step", 0, bundle::Start::kZero}};
  spec.state_bytes = 64;
  bundle::Target target = host_target();
  target.rodata.resize(16 * 64);
  for (uint32_t i = 0; i < 16; ++i) std::memcpy(target.rodata.data() + 64 * i, &i, sizeof i);
  const bundle::Parameter vector_in{sizeof(MixVector), true, false, 2}, vector_out{sizeof(MixVector), false, true};
  const bundle::Parameter word_in{4, true, false}, word_out{4, false, true}, flag_out{1, false, true};
  target.kernels = {
      host_kernel("mix_together", mix_together, kMixTasks, {vector_in, vector_in, vector_out}),
      host_kernel("mix_alone", mix_alone, 1, {vector_in, vector_in, vector_out}),
      host_kernel("is_below", is_below, 1, {word_in, word_in, flag_out}),
      host_kernel("advance", advance, 1, {{4, true, true}}),
      host_kernel("clear", clear, 1, {word_out}),
      host_kernel("pick", pick, 1, {word_in, word_out}),
      host_kernel("is_odd", is_odd, 1, {word_in, flag_out}),
  };
  target.plans = {plan_};
  spec.targets = {target};
  return spec;
}

MixVector flow_input() {
  MixVector x;
  for (uint32_t i = 0; i < kMixElements; ++i) x[i] = 0x9E3779B9u * (i + 1);
  return x;
}

FlowPorts::FlowPorts(ingot_session* session, uint32_t n_value) {
  const MixVector input = flow_input();
  std::memcpy(x.data(), input.data(), sizeof input);
  *n.as<uint32_t>() = n_value;
  EXPECT_EQ(ingot_bind_input(session, 0, 0, x.data(), x.size(), nullptr), INGOT_OK);
  EXPECT_EQ(ingot_bind_input(session, 0, 1, n.data(), n.size(), nullptr), INGOT_OK);
  EXPECT_EQ(ingot_bind_output(session, 0, 0, y.data(), y.size(), nullptr), INGOT_OK);
}

MixVectors FlowPorts::result() const {
  MixVectors rows;
  std::memcpy(&rows, y.data(), sizeof rows);
  return rows;
}

MixVectors run_flow(const OpenBundle& bundle, uint32_t threads, uint32_t n, ingot_metrics* metrics) {
  EXPECT_EQ(bundle.status, INGOT_OK) << bundle.error.text;
  if (bundle.status != INGOT_OK) return {};
  OpenSession open(bundle, threads);
  EXPECT_EQ(open.status, INGOT_OK) << open.error.text;
  FlowPorts ports(open.session, n);
  std::memset(open.arena.data(), 0xAB, open.arena.size());
  EXPECT_EQ(ingot_run(open.session, 0, nullptr), INGOT_OK);
  if (metrics) ingot_get_metrics(open.session, metrics);
  return ports.result();
}

}  // namespace ingot::test
