// Random programs of loops and branches: the engine computes what plain C++ computes. Then their plans are changed at
// random: what the engine still accepts gives what a machine computes whose buffers never overlap.
#include <iostream>
#include <optional>
#include <random>

#include "aot/base/error.h"
#include "tests/engine/engine_flow.h"
#include "tests/support/environment.h"

namespace ingot::test {
namespace {

using bundle::Operand;
using bundle::StepKind;

struct Node;
using Nodes = std::vector<Node>;

// Acts on four vectors; `a`, `b`, `c` and `d` are different ones of them.
struct Node {
  enum Kind { kMix, kTemporary, kPair, kLoop, kCase, kIf } kind = kMix;
  uint32_t a = 0, b = 1, c = 2, d = 3;
  uint32_t kernel = kMixAlone, other_kernel = kMixAlone;
  uint32_t times = 0;        // a loop's
  std::vector<Nodes> parts;  // a loop's condition and body; branches
};

using Random = std::mt19937;

uint32_t below(Random& random, uint32_t count) { return random() % count; }

Nodes random_nodes(Random& random, int depth) {
  Nodes nodes(1 + below(random, 3));
  for (Node& node : nodes) {
    std::array<uint32_t, 4> order = {0, 1, 2, 3};
    for (uint32_t i = 3; i > 0; --i) std::swap(order[i], order[below(random, i + 1)]);
    node.a = order[0], node.b = order[1], node.c = order[2], node.d = order[3];
    if (below(random, 3) == 0) node.kernel = kMixTogether;
    if (below(random, 3) == 0) node.other_kernel = kMixTogether;
    node.kind = static_cast<Node::Kind>(below(random, depth == 0 ? 3 : 6));
    node.times = below(random, 4);
    const uint32_t part_count = node.kind < Node::kLoop ? 0 : node.kind == Node::kCase ? 2 + below(random, 4) : 2;
    for (uint32_t i = 0; i < part_count; ++i) {
      const bool is_empty = below(random, node.kind == Node::kLoop && i == 0 ? 2 : 5) == 0;
      node.parts.push_back(is_empty ? Nodes() : random_nodes(random, depth - 1));
    }
  }
  return nodes;
}

void simulate(const Nodes& nodes, MixVectors& v) {
  for (const Node& n : nodes) {
    const auto branch = [&](size_t taken) {
      simulate(n.parts[taken], v);
      v[n.c] = mixed(mixed(v[n.a], v[n.b]), v[n.d]);
    };
    switch (n.kind) {
      case Node::kMix:
        v[n.c] = mixed(v[n.a], v[n.b]);
        break;
      case Node::kTemporary:
        v[n.c] = mixed(mixed(v[n.a], v[n.b]), v[n.c]);
        break;
      case Node::kPair:
        v[n.c] = mixed(v[n.a], v[n.b]);
        v[n.d] = mixed(v[n.b], v[n.a]);
        break;
      case Node::kLoop:
        for (uint32_t i = 0;; ++i) {
          simulate(n.parts[0], v);
          if (i >= n.times) break;
          simulate(n.parts[1], v);
        }
        break;
      case Node::kCase:
        branch(std::min<size_t>(v[n.a][0] % 5, n.parts.size() - 1));
        break;
      case Node::kIf:
        branch(v[n.a][0] % 2 == 1 ? 0 : 1);
        break;
    }
  }
}

void emit(const Nodes& nodes, const std::array<Operand, 4>& v, FlowBuilder& b) {
  for (const Node& n : nodes) {
    // Every branch ends in a result of the case, a buffer that starts in the first.
    const Operand result =
        n.kind == Node::kMix || n.kind == Node::kPair || n.kind == Node::kLoop ? Operand() : b.vector();
    std::vector<FlowBuilder::Part> branches;
    for (const Nodes& part : n.parts) {
      branches.push_back([&] {
        emit(part, v, b);
        b.step(n.kernel, {v[n.a], v[n.b], result});
      });
    }
    switch (n.kind) {
      case Node::kMix:
        b.step(n.kernel, {v[n.a], v[n.b], v[n.c]});
        break;
      case Node::kTemporary:
        b.step(n.kernel, {v[n.a], v[n.b], result});
        b.step(n.other_kernel, {result, v[n.c], v[n.c]});
        break;
      case Node::kPair:
        b.step(n.kernel, {v[n.a], v[n.b], v[n.c]});
        b.step(n.other_kernel, {v[n.b], v[n.a], v[n.d]}, false);
        break;
      case Node::kLoop: {
        const Operand counter = b.word(), more = b.flag();
        b.step(kClear, {counter});
        b.loop(
            [&] {
              emit(n.parts[0], v, b);
              b.step(kIsBelow, {counter, b.constant(n.times), more});
            },
            more,
            [&] {
              emit(n.parts[1], v, b);
              b.step(kAdvance, {counter});
            });
        break;
      }
      case Node::kCase: {
        const Operand index = b.word();
        b.step(kPick, {v[n.a], index});
        b.choose(index, branches);
        b.step(n.other_kernel, {result, v[n.d], v[n.c]});
        break;
      }
      case Node::kIf: {
        const Operand odd = b.flag();
        b.step(kIsOdd, {v[n.a], odd});
        b.choose_by_flag(odd, branches[0], branches[1]);
        b.step(n.other_kernel, {result, v[n.d], v[n.c]});
        break;
      }
    }
  }
}

bundle::BundleSpec spec_of(const Nodes& nodes) {
  FlowBuilder b;
  const std::array<Operand, 4> v = {b.vector(), b.vector(), b.vector(), b.vector()};
  for (int i = 0; i < 4; ++i) b.step(kMixTogether, {b.x(), i == 0 ? b.x() : v[i - 1], v[i]});
  emit(nodes, v, b);
  for (uint32_t i = 0; i < 4; ++i) b.step(kMixTogether, {v[i], v[i], b.y(i)}, i == 0);
  return b.finish();
}

MixVectors result_of(const Nodes& nodes) {
  MixVectors v;
  for (int i = 0; i < 4; ++i) v[i] = mixed(flow_input(), i == 0 ? flow_input() : v[i - 1]);
  simulate(nodes, v);
  for (MixVector& row : v) row = mixed(row, row);
  return v;
}

constexpr uint32_t kStepsMax = 20'000;

// Runs a plan that the engine has accepted, with memory of its own for every buffer. Nothing if it takes too long.
std::optional<MixVectors> run_ideally(const bundle::BundleSpec& spec) {
  constexpr ingot_kernel kKernels[] = {mix_together, mix_alone, is_below, advance, clear, pick, is_odd};
  const bundle::Target& target = spec.targets[0];
  const bundle::Plan& plan = target.plans[0];
  std::vector<std::vector<uint8_t>> buffers;
  for (const bundle::Buffer& buffer : plan.buffers) buffers.emplace_back(buffer.bytes, 0xEE);
  MixVector x = flow_input();
  MixVectors y = {};
  uint32_t n = 0, runs = 0;
  const auto address = [&](const Operand& o) -> uint8_t* {
    void* const bases[] = {nullptr, &runs, const_cast<std::byte*>(target.rodata.data()), &x, &n, &y};
    if (o.base == INGOT_BASE_ARENA)
      return buffers[o.index].data() + (o.offset_bytes - plan.buffers[o.index].offset_bytes);
    return static_cast<uint8_t*>(bases[o.base]) + o.offset_bytes;
  };
  uint32_t at = 0;
  for (uint32_t taken = 0; at < plan.steps.size(); ++taken) {
    if (taken == kStepsMax) return std::nullopt;
    const bundle::Step& step = plan.steps[at++];
    std::vector<uint8_t*> bases;
    std::vector<ingot_operand> operands;
    for (const Operand& operand : step.operands) {
      operands.push_back({0, static_cast<uint32_t>(bases.size()), 0});
      bases.push_back(address(operand));
    }
    if (step.kind == StepKind::kKernel) {
      const ingot_kernel_context context = {bases.data(), operands.data(), nullptr};
      for (uint32_t task = 0; task < target.kernels[step.kernel].task_count; ++task)
        kKernels[step.kernel](&context, task);
    } else {
      uint32_t value = step.kernel + 1;  // an unconditional jump's never matches
      if (step.kind == StepKind::kJumpUnless) std::memcpy(&(value = 0), bases[0], step.word ? 4 : 1);
      if (value != step.kernel) at = step.target;
    }
  }
  return y;
}

TEST(EngineFlowRandom, ProgramsComputeWhatPlainCodeDoes) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const Nodes nodes = random_nodes(random, 4);
    const bundle::BundleSpec spec = spec_of(nodes);
    const OpenBundle bundle(bundle::write_bundle(spec));
    ASSERT_EQ(bundle.status, INGOT_OK) << seed << ": " << bundle.error.text;
    const MixVectors expected = result_of(nodes);
    for (const uint32_t threads : {1, 3}) ASSERT_EQ(run_flow(bundle, threads, 0), expected) << seed;
    const std::optional<MixVectors> ideal = run_ideally(spec);
    ASSERT_TRUE(!ideal || *ideal == expected) << seed;

    OpenSession sliced(bundle, 2);
    const FlowPorts ports(sliced.session);
    for (int32_t finished = 0; !finished;) {
      ASSERT_EQ(ingot_run_slice(sliced.session, 0, 1 + below(random, 50), 0, &finished, nullptr), INGOT_OK);
    }
    ASSERT_EQ(ports.result(), expected) << seed;
  }
}

// A wrong turn that a planner could take: one step, buffer or operand is not what it was.
void change(Random& random, bundle::Plan& plan) {
  const uint32_t step_count = static_cast<uint32_t>(plan.steps.size());
  bundle::Step& step = plan.steps[below(random, step_count)];
  bundle::Buffer& buffer = plan.buffers[below(random, static_cast<uint32_t>(plan.buffers.size()))];
  const uint32_t amount = 1 + below(random, 4);
  switch (below(random, 9)) {
    case 0:
      buffer.last_step = std::max(buffer.first_step, buffer.last_step - std::min(buffer.last_step, amount));
      break;
    case 1:
      buffer.last_step += amount;
      break;
    case 2:
      buffer.first_step = std::min(buffer.first_step + amount, buffer.last_step);
      break;
    case 3: {
      buffer.offset_bytes = plan.buffers[below(random, static_cast<uint32_t>(plan.buffers.size()))].offset_bytes;
      const auto index = static_cast<uint32_t>(&buffer - plan.buffers.data());
      for (bundle::Step& user : plan.steps) {
        for (Operand& operand : user.operands) {
          if (operand.base == INGOT_BASE_ARENA && operand.index == index) operand.offset_bytes = buffer.offset_bytes;
        }
      }
      break;
    }
    case 4:
      step.barrier = !step.barrier;
      break;
    case 5:
      if (step.kind != StepKind::kKernel) step.target = below(random, step_count + 1);
      break;
    case 6:
      if (!step.operands.empty()) {
        const auto index = static_cast<uint32_t>(&buffer - plan.buffers.data());
        step.operands[below(random, static_cast<uint32_t>(step.operands.size()))] = {INGOT_BASE_ARENA,
                                                                                     buffer.offset_bytes, index};
      }
      break;
    case 7:
      std::swap(step.operands, plan.steps[below(random, step_count)].operands);
      break;
    default:
      std::swap(step, plan.steps[below(random, step_count)]);
  }
}

// INGOT_PLANS says how many.
TEST(EngineFlowRandom, ChangedPlansAreRefusedOrMeanWhatTheySay) {
  const int64_t plans = number_from_environment("INGOT_PLANS", 1500);
  int refused = 0, ran = 0, endless = 0;
  for (uint32_t seed = 0; seed < plans; ++seed) {
    Random random(seed);
    bundle::BundleSpec spec = spec_of(random_nodes(random, 2));
    change(random, spec.targets[0].plans[0]);
    std::vector<std::byte> file;
    try {
      file = bundle::write_bundle(spec);
    } catch (const Error&) {
      continue;
    }
    const OpenBundle bundle(file);
    if (bundle.status != INGOT_OK) {
      ASSERT_EQ(bundle.status, INGOT_BAD_PLAN) << seed << ": " << bundle.error.text;
      ++refused;
      continue;
    }
    const std::optional<MixVectors> expected = run_ideally(spec);
    ++(expected ? ran : endless);
    if (expected) {
      for (const uint32_t threads : {1, 3}) ASSERT_EQ(run_flow(bundle, threads, 0), *expected) << seed;
    }
  }
  std::cout << "  " << plans << " changed plans: " << refused << " refused, " << ran << " ran with 1 and 3 threads, "
            << endless << " without an end\n";
  EXPECT_GT(refused, plans / 5);
  EXPECT_GT(ran, plans / 5);
}

}  // namespace
}  // namespace ingot::test
