// Control flow that is traced: against programs without it, its gradients against theirs, compiled against evaluated.
#include <gtest/gtest.h>
#include <ingot/ingot.h>

#include "aot/pipeline/compile.h"
#include "tests/support/compiled_program.h"
#include "tests/support/error_of.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

// A network's loss and the gradients of its parameters, by evaluation and compiled.
struct Run {
  NamedTensors evaluated, compiled;
};

Run run(const Tensors& parameters, const std::function<Tensor(Tensor)>& loss, const RefTensor& input) {
  Program program;
  program.add(
      "step",
      [&](Tensor x) {
        const Tensor value = loss(x);
        value.backward();
        Outputs outputs{{"loss", value}};
        for (const Tensor& p : parameters) outputs.tensors.emplace_back(p.name(), p.grad());
        return outputs;
      },
      Spec{input.type, "x"});
  NamedTensors state;
  uint64_t seed = 1;
  for (const Tensor& p : parameters) state[p.name()] = random_tensor(p.type(), ++seed, -0.8, 0.8);
  NamedTensors other_state = state;
  return {ReferenceExecutor().run(program.module(), "step", state, {{"x", input}}),
          CompiledExecutor(2).run(program.module(), "step", other_state, {{"x", input}})};
}

// Both ways to write a network say the same, and so do their gradients.
void expect_same(const Tensors& parameters, const std::function<Tensor(Tensor)>& a,
                 const std::function<Tensor(Tensor)>& b, const RefTensor& input) {
  const Run first = run(parameters, a, input), second = run(parameters, b, input);
  for (const auto& [name, expected] : second.evaluated) {
    SCOPED_TRACE(name);
    expect_equal({first.evaluated.at(name)}, {expected}, {.ulp = 64, .absolute = 1e-5});
    expect_equal({first.compiled.at(name)}, {expected}, {.ulp = 64, .absolute = 1e-5});
  }
}

// A recurrent cell: h' = tanh(x W + h U + b), y = h' h'.
struct Cell {
  Tensor w = parameter("w", f32[{4, 6}].type, init::normal()), u = parameter("u", f32[{6, 6}].type, init::normal()),
         bias = parameter("bias", f32[{6}].type, init::normal());

  Tensors parameters() const { return {w, u, bias}; }
  Tensor next(const Tensor& h, const Tensor& x) const { return tanh(x.matmul(w) + h.matmul(u) + bias); }
};

TEST(Scan, IsTheUnrolledLoop) {
  const Cell cell;
  for (const bool reverse : {false, true}) {
    expect_same(
        cell.parameters(),
        [&](Tensor x) {
          const Scanned all = scan(
              [&](Tensors carry, Tensors slice) {
                const Tensor h = cell.next(carry[0], slice[0]);
                return Scanned{{h}, {h * h, slice[0].sum()}};
              },
              {zeros({3, 6})}, {x}, {.reverse = reverse});
          return all.carry[0].sum() + (all.ys[0] * all.ys[0]).mean() + (all.ys[1] * x.sum({1, 2})).sum();
        },
        [&](Tensor x) {
          Tensor h = zeros({3, 6}), sums = zeros({});
          for (int64_t t = 0; t < 5; ++t) {
            const Tensor slice = x.select(0, reverse ? 4 - t : t);
            h = cell.next(h, slice);
            sums = sums + (h * h).square().sum() / (5 * 3 * 6) + slice.sum() * slice.sum();
          }
          return h.sum() + sums;
        },
        random_tensor(f32[{5, 3, 4}].type, 9, -1, 1));
  }
}

// The kernels in one iteration of each loop of a plan, but for those that count iterations.
std::vector<int> kernels_in_iterations(const plan::Plan& plan) {
  std::vector<int> counts;
  for (size_t back = 0; back < plan.steps.size(); ++back) {
    if (plan.steps[back].kind != plan::StepKind::kJump) continue;
    counts.push_back(0);
    for (size_t at = plan.steps[back].target; at < back; ++at) {
      const plan::Step& step = plan.steps[at];
      for (size_t i = 0; i < step.writes.size(); ++i) {
        if (!step.writes[i] || plan.buffers[step.buffers[i]].type.elements() == 1) continue;
        ++counts.back();
        break;
      }
    }
  }
  return counts;
}

TEST(Scan, AnLstmCellIsTwoKernels) {
  const Tensor w = parameter("w", f32[{28, 256}].type, init::normal()),
               u = parameter("u", f32[{64, 256}].type, init::normal()),
               bias = parameter("bias", f32[{256}].type, init::normal());
  const auto step = [&](const Tensors& carry, const Tensor& x) {
    const std::vector<Tensor> gates = (x.matmul(w) + carry[0].matmul(u) + bias).chunk(4, 1);
    const Tensor c = sigmoid(gates[1]) * carry[1] + sigmoid(gates[0]) * tanh(gates[2]);
    return Tensors{sigmoid(gates[3]) * tanh(c), c};
  };
  const auto scanned = [&](const Tensor& xs) {
    const auto cell = [&](Tensors carry, Tensors x) {
      const Tensors next = step(carry, x[0]);
      return Scanned{next, {next[0]}};
    };
    const Scanned all = scan(cell, {zeros({32, 64}), zeros({32, 64})}, {xs});
    return (all.carry[0] * all.carry[1]).sum() + all.ys[0].square().mean();
  };
  const auto unrolled = [&](const Tensor& xs) {
    Tensors carry{zeros({32, 64}), zeros({32, 64})};
    Tensor squares = zeros({});
    for (int64_t t = 0; t < 6; ++t) {
      carry = step(carry, xs.select(0, t));
      squares = squares + carry[0].square().mean() / 6;
    }
    return (carry[0] * carry[1]).sum() + squares;
  };
  expect_same({w, u, bias}, scanned, unrolled, random_tensor(f32[{6, 32, 28}].type, 9, -0.3, 0.3));
  Program program;
  program.add("predict", [&](Tensor x) { return Outputs{{"y", scanned(x)}}; }, f32[{6, 32, 28}].named("x"));
  EXPECT_EQ(kernels_in_iterations(compile(program).plans[0][0]), std::vector<int>{2});
}

TEST(Scan, CarriesIntegersAndCountsWithoutSlices) {
  const Tensor w = parameter("w", f32[{6}].type, init::normal());
  expect_same(
      {w},
      [&](Tensor x) {
        const Scanned all =
            scan([&](Tensors carry, Tensors) { return Scanned{{carry[0] * w + carry[1].to(f32), carry[1] + 2}, {}}; },
                 {x, Tensor(1).to(i32)}, {}, {.length = 4});
        return all.carry[0].sum() * all.carry[1].to(f32);
      },
      [&](Tensor x) {
        Tensor y = x;
        for (int t = 0; t < 4; ++t) y = y * w + (1 + 2 * t);
        return y.sum() * 9;
      },
      random_tensor(f32[{6}].type, 9, -1, 1));
}

TEST(Scan, Nests) {
  const Tensor w = parameter("w", f32[{3}].type, init::normal());
  expect_same(
      {w},
      [&](Tensor x) {
        const auto inner = [&](Tensors carry, Tensors slice) {
          const Tensor h = tanh(carry[0] * w + slice[0]);
          return Scanned{{h}, {h}};
        };
        const auto outer = [&](Tensors carry, Tensors slice) {
          const Scanned made = scan(inner, carry, {slice[0]});
          return Scanned{{made.carry[0]}, {made.ys[0].sum(0)}};
        };
        const Scanned all = scan(outer, {ones({3})}, {x});
        return (all.ys[0] * x.sum(1)).sum() + all.carry[0].sum();
      },
      [&](Tensor x) {
        Tensor h = ones({3}), sum = zeros({});
        for (int64_t s = 0; s < 4; ++s) {
          for (int64_t t = 0; t < 2; ++t) {
            h = tanh(h * w + x.select(0, s).select(0, t));
            sum = sum + (h * x.select(0, s).sum(0)).sum();
          }
        }
        return sum + h.sum();
      },
      random_tensor(f32[{4, 2, 3}].type, 9, -1, 1));
}

TEST(Cond, RunsOneBranchForwardAndBack) {
  const Tensor w = parameter("w", f32[{3}].type, init::normal()), v = parameter("v", f32[{3}].type, init::normal());
  for (const double sign : {-1.0, 1.0}) {
    expect_same(
        {w, v},
        [&](Tensor x) {
          const Tensor y = cond(x.sum() > 0, [&] { return x * w * w; }, [&] { return exp(x * v) + w; });
          return y.sum() + v.sum();
        },
        [&](Tensor x) { return where(x.sum() > 0, x * w * w, exp(x * v) + w).sum() + v.sum(); },
        tensor_of_values(f32[{3}].type, {sign, 2 * sign, 3 * sign}));
  }
}

TEST(Cond, ChoosesAmongSeveralInEveryRound) {
  const Tensor w = parameter("w", f32[{3}].type, init::normal());
  const auto step = [&](const Tensor& h, int64_t which) {
    return which == 0 ? h * w : which == 1 ? tanh(h) : h + w.square();
  };
  expect_same(
      {w},
      [&](Tensor x) {
        const auto body = [&](Tensors carry, Tensors) {
          const auto branch = [&](int64_t k) { return [&, k] { return Tensors{step(carry[0], k)}; }; };
          const Tensor h = switch_case(carry[1], {branch(0), branch(1), branch(2)})[0];
          return Scanned{{h, carry[1] + 1}, {}};
        };
        return scan(body, {x, Tensor(0).to(i32)}, {}, {.length = 5}).carry[0].sum();
      },
      [&](Tensor x) {
        for (int64_t t = 0; t < 5; ++t) x = step(x, std::min<int64_t>(t, 2));
        return x.sum();
      },
      random_tensor(f32[{3}].type, 9, -1, 1));
}

TEST(WhileLoop, GoesRoundAsTheDataSays) {
  Program program;
  program.add(
      "f",
      [](Tensor x) {
        const Tensors last = while_loop([](Tensors c) { return c[0] < 100; },
                                        [](Tensors c) { return Tensors{c[0] * 2, c[1] + 1}; }, {x, Tensor(0).to(i32)});
        return Outputs{{"x", last[0]}, {"rounds", last[1]}};
      },
      f32[{}].named("x"));
  NamedTensors state;
  const NamedTensors inputs{{"x", tensor_of_values(f32[{}].type, {3})}};
  for (const NamedTensors& out : {ReferenceExecutor().run(program.module(), "f", state, inputs),
                                  CompiledExecutor().run(program.module(), "f", state, inputs)}) {
    EXPECT_EQ(out.at("x").f[0], 192);
    EXPECT_EQ(out.at("rounds").i[0], 6);
  }
}

// The message of the error that tracing `function` gives.
std::string tracing_error(const std::function<Tensor(Tensor)>& function) {
  return error_of([&] { Program().add("f", function, f32[{3}]); });
}

TEST(ScanErrors, SayWhatARegionMayNotDo) {
  const Tensor w = parameter("w", f32[{3}].type, init::normal());
  const auto in_scan = [](const std::function<Tensor(Tensor)>& body) {
    return tracing_error([&](Tensor x) {
      return scan([&](Tensors carry, Tensors) { return Scanned{{body(carry[0])}, {}}; }, {x}, {}, {.length = 2})
          .carry[0];
    });
  };
  Tensor leaked;
  const std::pair<std::string, const char*> errors[] = {
      {in_scan([&](Tensor h) { return Tensor(w).copy_(h), h; }), "state cannot be written inside of a scan"},
      {in_scan([&](Tensor h) { return (h * w).sum().backward(), h; }), "backward() cannot be called inside"},
      {in_scan([&](Tensor h) { return dropout(h); }), "random numbers would be the same in every iteration"},
      {in_scan([&](Tensor h) { return h.sum(); }), "turns carry 0 from tensor<3xf32> to tensor<f32>"},
      {tracing_error([&](Tensor x) {
         scan([&](Tensors c, Tensors) { return Scanned{{leaked = c[0] + 1}, {}}; }, {x}, {}, {.length = 2});
         return leaked + 1;
       }),
       "return it from there"},
      {tracing_error([&](Tensor x) { return cond(x > 0, [&] { return x; }, [&] { return x; }); }),
       "must be tensor<i1>"},
      {tracing_error([&](Tensor x) {
         Tensor y =
             while_loop([](Tensors c) { return c[0].sum() < 9; }, [&](Tensors c) { return Tensors{c[0] * w}; }, {x})[0];
         y.sum().backward();
         return y;
       }),
       "only a loop whose iterations are counted"},
  };
  for (const auto& [message, expected] : errors) EXPECT_NE(message.find(expected), message.npos) << message;
}

}  // namespace
}  // namespace ingot
