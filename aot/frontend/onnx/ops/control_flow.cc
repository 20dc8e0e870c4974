// If, Loop and Scan: graphs within a node. What is known while importing is decided or unrolled at once.
#include <fmt/format.h>

#include "aot/frontend/onnx/graph_importer.h"

namespace ingot::onnx {
namespace {

constexpr int64_t kUnrolledMax = 1024;

Values tensors(NodeArgs& n, const std::vector<Item>& items) {
  Values values;
  for (const Item& item : items) {
    if (!item.value)
      n.limit("sequences and optionals cannot leave a branch or a loop that is decided while the model runs");
    values.push_back(item.value);
  }
  return values;
}

Items as_items(const std::vector<Item>& outputs) {
  Items items;
  items.assign(outputs.begin(), outputs.end());
  return items;
}

bool is_true(NodeArgs& n, const RefTensor& condition) {
  if (condition.elements() != 1 || condition.i.size() != 1) n.fail("its condition must be one truth value");
  return condition.i[0] != 0;
}

Term scalar_of(NodeArgs& n, Term x) {
  if (element_count(x.shape()) != 1) n.fail("its condition must be one element");
  return reshape(x, {});
}

}  // namespace

// Said of what is wrong in a branch, or with both of them.
constexpr const char* kUndecided =
    "; a branch of If, of which only the running model knows whether it is taken: where one integer among the inputs "
    "decides, --shape NAME=VALUE gives it";

Items lower_if(NodeArgs& n) {
  const Graph &then = n.graph("then_branch"), &otherwise = n.graph("else_branch");
  if (const auto known = n.maybe_known(0))
    return as_items(n.importer.run_inner(is_true(n, *known) ? then : otherwise, {}));
  const Term condition = scalar_of(n, n.in(0));
  std::vector<std::unique_ptr<Block>> branches;
  for (const Graph* graph : {&then, &otherwise}) {
    branches.push_back(n.importer.region({}, [&](const Values&) {
      try {
        return tensors(n, n.importer.run_inner(*graph, {}));
      } catch (const Error& error) {
        if (error.message().ends_with(kUndecided)) throw;  // said of a branch within
        throw Error(error.kind(), error.location(), error.message() + kUndecided);
      }
    }));
  }
  const Values &a = branches[0]->terminator()->operands, &b = branches[1]->terminator()->operands;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (a[i]->type == b[i]->type) continue;
    n.limit(fmt::format("its branches give {} and {} as output {}{}", to_string(a[i]->type), to_string(b[i]->type), i,
                        kUndecided));
  }
  const Op* made = n.b.create(kIf, {condition}, {}, {}, std::move(branches));
  Items results;
  for (const auto& result : made->results) results.emplace_back(Item(result.get()));
  return results;
}

namespace {

// A loop whose body keeps the types of what it carries: it becomes a while. `slices` gives what the body is told of an
// iteration, after what it carries; `count` is how many there are at most.
struct LoopShape {
  NodeArgs& n;
  const Graph& body;
  std::vector<Item> starts = {};                                 // what is carried
  std::optional<Term> condition = {};                            // none: it is always true
  std::optional<int64_t> count = {};                             // where known
  std::optional<Term> limit = {};                                // i64; none: for ever
  std::function<std::vector<Item>(Term iteration)> given = {};   // the body's inputs before what it carries
  std::function<std::vector<Item>(Term iteration)> slices = {};  // and after it
  bool has_condition_output;
  std::vector<int64_t> scan_axes = {};  // of stacked outputs; empty: all 0
  std::vector<bool> scans_backwards = {};
};

struct BodyResult {
  std::optional<Value*> condition;
  Values carried, scanned;
};

// Runs the body in the block where the builder stands.
BodyResult run_body(const LoopShape& loop, Term iteration, const std::vector<Item>& carried) {
  std::vector<Item> inputs = loop.given(iteration);
  inputs.insert(inputs.end(), carried.begin(), carried.end());
  for (Item& item : loop.slices(iteration)) inputs.push_back(std::move(item));
  const std::vector<Item> outputs = loop.n.importer.run_inner(loop.body, inputs);
  Values values = tensors(loop.n, outputs);
  BodyResult result;
  auto next = values.begin();
  if (loop.has_condition_output) {
    if (values.empty()) loop.n.fail("its body has no output");
    result.condition = *next++;
  }
  if (values.end() - next < std::ssize(carried)) loop.n.fail("its body gives back less than it carries");
  result.carried.assign(next, next + std::ssize(carried));
  result.scanned.assign(next + std::ssize(carried), values.end());
  return result;
}

int64_t scan_axis(const LoopShape& loop, size_t k, int rank) {
  return k < loop.scan_axes.size() ? loop.n.axis(loop.scan_axes[k], rank + 1) : 0;
}

// [..., 1, ...] where the iteration's part of a stacked output lies.
Value* with_part(const LoopShape& loop, Value* stack, Value* part, Term iteration, size_t k) {
  GraphBuilder& b = loop.n.b;
  const int64_t axis = scan_axis(loop, k, part->type.rank());
  Term at = iteration;
  if (k < loop.scans_backwards.size() && loop.scans_backwards[k]) at = static_cast<double>(*loop.count - 1) - iteration;
  Values starts(stack->type.shape.size(), constant(b, {DType::kI64, {}}, 0));
  starts[axis] = at;
  return ops::dynamic_update_slice(b, stack, unsqueeze({b, part}, axis), starts);
}

Shape stacked(const LoopShape& loop, const Shape& part, size_t k) {
  Shape shape = part;
  shape.insert(shape.begin() + scan_axis(loop, k, static_cast<int>(part.size())), *loop.count);
  return shape;
}

// What one iteration makes of its types, tried in a block that is thrown away.
struct Trial {
  bool keeps_types = true, goes_on = false;  // goes_on: its condition is known to stay true
  bool is_fixed = true;                      // no shape depends on what differs from one iteration to the next
  std::vector<TensorType> scanned;
};

Trial try_body(const LoopShape& loop);

// As try_body, of a loop that may be unrolled: what cannot be a while may be known in each iteration.
Trial try_body_or_unroll(const LoopShape& loop) {
  try {
    return try_body(loop);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kLimit || !loop.count || *loop.count > kUnrolledMax) throw;
    Trial trial;
    trial.is_fixed = false;
    return trial;
  }
}

Trial try_body(const LoopShape& loop) {
  Trial trial;
  std::vector<TensorType> types{{DType::kI64, {}}};
  for (const Item& start : loop.starts) types.push_back(start.value->type);
  loop.n.importer.keep(loop.n.importer.region(types, [&](const Values& arguments) {
    const std::vector<Item> carried(arguments.begin() + 1, arguments.end());
    const BodyResult made = run_body(loop, {loop.n.b, arguments[0]}, carried);
    for (size_t i = 0; i < made.carried.size(); ++i) trial.keeps_types &= made.carried[i]->type == types[i + 1];
    for (const Value* value : made.scanned) trial.scanned.push_back(value->type);
    const auto known = made.condition ? loop.n.importer.known(*made.condition) : std::nullopt;
    trial.goes_on = !made.condition || (known && is_true(loop.n, *known));
    return Values{};
  }));
  return trial;
}

Items run_while(const LoopShape& loop, const Trial& trial) {
  NodeArgs& n = loop.n;
  const bool tests = loop.condition || !trial.goes_on;
  if (!trial.scanned.empty() && (!loop.count || tests))
    n.limit("how often it runs, and so how long its stacked outputs are, is only known while it runs");
  if (!tests && !loop.limit) n.fail("it never ends");
  Values starts{constant(n.b, {DType::kI64, {}}, 0)};
  if (tests) starts.push_back(loop.condition ? *loop.condition : constant(n.b, {DType::kI1, {}}, 1));
  const size_t first = starts.size(), stacks = first + loop.starts.size();
  for (const Item& start : loop.starts) starts.push_back(start.value);
  for (size_t k = 0; k < trial.scanned.size(); ++k) {
    starts.push_back(constant(n.b, {trial.scanned[k].dtype, stacked(loop, trial.scanned[k].shape, k)}, 0));
  }
  std::vector<TensorType> types;
  for (const Value* start : starts) types.push_back(start->type);
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(n.importer.region(types, [&](const Values& a) {
    std::optional<Term> go;
    if (loop.limit) go = Term(n.b, a[0]) < *loop.limit;
    if (tests) go = go ? both(*go, {n.b, a[1]}) : Term(n.b, a[1]);
    return Values{*go};
  }));
  regions.push_back(n.importer.region(types, [&](const Values& a) {
    const Term iteration(n.b, a[0]);
    const auto middle = a.begin() + static_cast<std::ptrdiff_t>(first);
    const BodyResult made = run_body(loop, iteration, std::vector<Item>(middle, middle + std::ssize(loop.starts)));
    Values next{iteration + 1};
    if (tests) next.push_back(made.condition ? scalar_of(n, {n.b, *made.condition}) : Term(n.b, a[1]));
    next.insert(next.end(), made.carried.begin(), made.carried.end());
    for (size_t k = 0; k < made.scanned.size(); ++k)
      next.push_back(with_part(loop, a[stacks + k], made.scanned[k], iteration, k));
    return next;
  }));
  const Op* made = n.b.create(kWhile, starts, {}, {}, std::move(regions));
  Items results;
  for (size_t i = first; i < made->results.size(); ++i) results.emplace_back(Item(made->result(static_cast<int>(i))));
  return results;
}

// Iteration after iteration: what is carried may change its type, or be a sequence.
Items unroll(const LoopShape& loop) {
  NodeArgs& n = loop.n;
  std::vector<Item> carried = loop.starts;
  std::vector<std::vector<Term>> stacks;
  for (int64_t i = 0;; ++i) {
    if (loop.count && i >= *loop.count) break;
    if (i >= kUnrolledMax)
      n.limit(fmt::format("what it carries changes its type, and it runs more than {} times", kUnrolledMax));
    const Term iteration = onnx::integers(n.b, {DType::kI64, {}}, {i});
    std::vector<Item> inputs = loop.given(iteration);
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    std::vector<Item> outputs = n.importer.run_inner(loop.body, inputs);
    if (outputs.size() < 1 + carried.size()) n.fail("its body gives back less than it carries");
    stacks.resize(outputs.size() - 1 - carried.size());
    for (size_t k = 0; k < stacks.size(); ++k) {
      const Item& part = outputs[1 + carried.size() + k];
      if (!part.value) n.fail("its stacked outputs must be tensors");
      stacks[k].push_back(unsqueeze({n.b, part.value}, 0));
    }
    const auto go = outputs[0].value ? n.importer.known(outputs[0].value) : std::nullopt;
    if (!go) n.limit("what it carries changes its type, and whether it goes on is only known while it runs");
    carried.assign(outputs.begin() + 1, outputs.begin() + 1 + std::ssize(carried));
    if (!is_true(n, *go)) break;
  }
  Items results = as_items(carried);
  if (stacks.empty() && std::ssize(n.node.outputs) > std::ssize(carried))
    n.limit("it never runs, and what its stacked outputs are is not known");
  for (const auto& stack : stacks) results.emplace_back(concat(stack, 0));
  return results;
}

bool has_sequences(const std::vector<Item>& items) {
  return std::ranges::any_of(items, [](const Item& item) { return !item.value; });
}

}  // namespace

// for (i = 0; i < M && condition; ++i) (condition, carried, scanned) = body(i, condition, carried)
Items lower_loop(NodeArgs& n) {
  LoopShape loop{.n = n, .body = n.graph("body"), .has_condition_output = true};
  for (int i = 2; i < n.count(); ++i) loop.starts.push_back(n.has(i) ? n.item(i) : Item());
  if (n.has(0)) {
    loop.limit = converted(scalar_of(n, n.in(0)), DType::kI64);
    if (n.maybe_known(0)) loop.count = std::max<int64_t>(n.known_integer(0), 0);
  }
  const auto first = n.has(1) ? n.maybe_known(1) : std::nullopt;
  if (n.has(1) && !first) loop.condition = scalar_of(n, n.in(1));
  if (first && !is_true(n, *first)) loop.count = 0;
  if (first && !is_true(n, *first)) loop.limit = constant(n.b, {DType::kI64, {}}, 0);
  const Term yes = constant(n.b, {DType::kI1, {}}, 1);
  loop.given = [&](Term iteration) { return std::vector<Item>{iteration, yes}; };
  loop.slices = [](Term) { return std::vector<Item>(); };
  if (has_sequences(loop.starts)) return unroll(loop);
  const Trial trial = loop.condition ? try_body(loop) : try_body_or_unroll(loop);
  const bool needs_unrolling =
      !trial.is_fixed || !trial.keeps_types || (!trial.scanned.empty() && (!loop.count || !trial.goes_on));
  if (needs_unrolling && !loop.condition) return unroll(loop);
  if (!trial.keeps_types)
    n.limit("what it carries changes its type, and how often it runs is only known while it runs");
  return run_while(loop, trial);
}

// The body for each slice of the scanned inputs; its outputs are stacked.
Items lower_scan(NodeArgs& n) {
  const int64_t scanned = n.integer("num_scan_inputs"), carried = n.count() - scanned;
  if (scanned < 1 || carried < 0) n.fail(fmt::format("num_scan_inputs = {} of {} inputs", scanned, n.count()));
  const std::vector<int64_t> axes = n.integers("scan_input_axes", std::vector<int64_t>(scanned, 0));
  const std::vector<int64_t> backwards = n.integers("scan_input_directions", std::vector<int64_t>(scanned, 0));
  if (std::ssize(axes) != scanned || std::ssize(backwards) != scanned)
    n.fail("its axes and directions need an entry for each scanned input");
  LoopShape loop{.n = n, .body = n.graph("body"), .has_condition_output = false};
  for (int64_t i = 0; i < carried; ++i) loop.starts.push_back(n.in(static_cast<int>(i)));
  for (int64_t k = 0; k < scanned; ++k) {
    const Term x = n.in(static_cast<int>(carried + k));
    const int64_t extent = x.shape()[n.axis(axes[k], rank_of(x))];
    if (loop.count && *loop.count != extent) n.fail("its scanned inputs differ in length");
    loop.count = extent;
  }
  loop.limit = onnx::integers(n.b, {DType::kI64, {}}, {*loop.count});
  loop.given = [](Term) { return std::vector<Item>(); };
  loop.slices = [&](Term iteration) {
    std::vector<Item> parts;
    for (int64_t k = 0; k < scanned; ++k) {
      const Term x = n.in(static_cast<int>(carried + k));
      const int64_t axis = n.axis(axes[k], rank_of(x));
      Values starts(x.shape().size(), constant(n.b, {DType::kI64, {}}, 0));
      starts[axis] = backwards[k] ? static_cast<double>(*loop.count - 1) - iteration : iteration;
      Shape sizes = x.shape();
      sizes[axis] = 1;
      parts.emplace_back(reshape({n.b, ops::dynamic_slice(n.b, x, starts, sizes)}, without(x.shape(), {axis})));
    }
    return parts;
  };
  loop.scan_axes = n.integers("scan_output_axes");
  for (const int64_t direction : n.integers("scan_output_directions")) loop.scans_backwards.push_back(direction != 0);
  if (*loop.count == 0) n.limit("its scanned inputs have no elements");
  const Trial trial = try_body(loop);
  if (!trial.keeps_types) n.fail("its body changes the types of what it carries");
  return run_while(loop, trial);
}

}  // namespace ingot::onnx
