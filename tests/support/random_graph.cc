#include "tests/support/random_graph.h"

#include "tests/support/graph_maker.h"
#include "tests/support/in_memory.h"

namespace ingot {
namespace {

// What nobody reads is a result, nearly always; and so are a few others.
Values chosen_results(GraphMaker& maker, const Block& block) {
  constexpr size_t kMost = 8;
  Values results;
  for (auto op = block.ops.rbegin(); op != block.ops.rend(); ++op) {
    for (const auto& result : (*op)->results) {
      if (results.size() < kMost && !is_token(result->type.dtype) &&
          maker.random.chance(result->uses.empty() ? 0.95 : 0.1)) {
        results.push_back(result.get());
      }
    }
  }
  if (results.empty()) results.push_back(maker.any());
  return results;
}

// Some arguments become state that a result of their type replaces.
void choose_state(Function& function, Random& random) {
  for (int i = 0; i < function.argument_count(); ++i) {
    if (!random.chance(0.3)) continue;
    for (size_t r = 0; r < function.results.size(); ++r) {
      FunctionResult& result = function.results[r];
      if (result.attrs.contains("ingot.state") || result.type != function.body.argument(i)->type) continue;
      const std::string name = "state" + std::to_string(i);
      function.argument_attrs[i].emplace("ingot.state", name);
      result.attrs.emplace("ingot.state", name);
      break;
    }
  }
}

}  // namespace

std::unique_ptr<Module> random_graph(uint64_t seed, const RandomGraphOptions& options) {
  auto module = std::make_unique<Module>();
  Function& function = *module->add_function("main");
  Random random(seed);
  GraphMaker maker(random, options, function);
  maker.grow(1 + static_cast<int>(random.below(options.op_count_max)));
  const Values results = chosen_results(maker, function.body);
  maker.make(kFuncReturn, results);
  for (const Value* value : results) function.results.push_back({value->type, {}});
  choose_state(function, random);
  return module;
}

std::vector<RefTensor> examples(const Function& function) {
  std::vector<RefTensor> result;
  for (const AttrMap& attrs : function.argument_attrs) {
    const RefTensor literal = from_literal(*Attrs(attrs, function.name, function.location).literal(kExampleAttr));
    result.push_back(from_memory(literal.type, in_memory(literal)));  // text has few digits of a quantized number
  }
  return result;
}

void set_example(Function& function, int argument, const RefTensor& tensor) {
  function.argument_attrs[argument].insert_or_assign(std::string(kExampleAttr), Attr(to_literal(tensor)));
}

}  // namespace ingot
