// Recipes for elementwise ops, and for any op of the table as its samples use it.
#include <algorithm>

#include "aot/graph/text/parse.h"
#include "tests/support/graph_maker.h"
#include "tests/support/op_case.h"

namespace ingot {
namespace {

struct ParsedSample {
  const OpDef* def;
  Sample sample;
  std::unique_ptr<Module> module;

  const Function& function() const { return *module->functions[0]; }
  // The sample's op of this row.
  const Op& op() const {
    const auto& ops = function().body.ops;
    const auto found = std::ranges::find_if(ops, [&](const auto& op) { return op->def == def; });
    return found != ops.end() ? **found : *ops.front();
  }
};

// Not ops that do something elsewhere, nor samples for sizes where other templates begin.
bool can_be_pasted(const ParsedSample& it, int64_t elements_max) {
  const std::string_view dialect = it.def->name.substr(0, it.def->name.find('.'));
  if (it.module->functions.size() != 1 || dialect == "check" || dialect == "interpreter") return false;
  return std::ranges::all_of(it.function().body.arguments, [&](const auto& argument) {
    return argument->type.is_static() && argument->type.elements() <= elements_max;
  });
}

// The samples of every op of the table, by op.
const std::vector<std::vector<ParsedSample>>& all_samples() {
  constexpr int64_t kElementsMax = 3000;
  static const std::vector<std::vector<ParsedSample>> samples = [] {
    std::vector<std::vector<ParsedSample>> result;
    for (const OpDef* def : all_ops().all()) {
      std::vector<ParsedSample> of_op;
      for (const Sample& sample : def->samples ? def->samples() : std::vector<Sample>()) {
        ParsedSample parsed{def, sample, parse_module(sample.text, std::string(def->name), all_ops())};
        if (can_be_pasted(parsed, kElementsMax)) of_op.push_back(std::move(parsed));
      }
      if (!of_op.empty()) result.push_back(std::move(of_op));
    }
    return result;
  }();
  return samples;
}

const std::vector<const std::vector<ParsedSample>*>& elementwise_samples() {
  static const std::vector<const std::vector<ParsedSample>*> samples = [] {
    std::vector<const std::vector<ParsedSample>*> result;
    for (const auto& of_op : all_samples()) {
      if (of_op[0].def->is_elementwise && !of_op[0].op().operands.empty()) result.push_back(&of_op);
    }
    return result;
  }();
  return samples;
}

// An op of the table that is_elementwise, with the attributes of a sample, on another element type where infer admits
// it, and on another shape.
void elementwise(GraphMaker& m) {
  const ParsedSample& sample = m.random.one_of(*m.random.one_of(elementwise_samples()));
  const Op& op = sample.op();
  const DType main = op.operands.back()->type.dtype;
  Value* x = m.random.chance(0.5) ? m.any() : m.of({main, m.shape()});
  const auto operands = [&](DType dtype) {
    Values values;
    for (const Value* operand : op.operands) {
      const DType own = operand->type.dtype == main ? dtype : operand->type.dtype;
      values.push_back(m.of({own, x->type.shape}));
    }
    return values;
  };
  std::vector<TensorType> declared;
  for (const auto& result : op.results) declared.push_back({result->type.dtype, x->type.shape});
  const std::vector<TensorType> none;
  const DType tried = m.random.chance(0.8) ? x->type.dtype : m.dtype();
  try {
    m.make(*op.def, operands(tried), op.attr_map, tried == main ? declared : none);
  } catch (const Error&) {
    m.make(*op.def, operands(main), op.attr_map, declared);
  }
}

// The everyday ones.
void arithmetic(GraphMaker& m) {
  static const std::vector<const OpDef*> kUnary = {&kNegate, &kAbs, &kTanh, &kExponential, &kLogistic, &kRsqrt, &kSqrt};
  static const std::vector<const OpDef*> kBinary = {&kAdd, &kSubtract, &kMultiply, &kMaximum, &kMinimum, &kDivide};
  Value* x = m.any();
  if (is_float(x->type.dtype) && m.random.chance(0.3)) {
    ops::unary(m.b, *m.random.one_of(kUnary), x);
  } else if (Value* y = m.other(x); m.random.chance(0.5)) {
    ops::binary(m.b, *m.random.one_of(kBinary), x, y);
  } else {
    ops::binary(m.b, *m.random.one_of(kBinary), y, x);
  }
}

void compare_and_select(GraphMaker& m) {
  static const std::vector<std::string> kDirections = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  Value* x = m.any();
  Value* y = m.other(x);
  Value* condition = m.random.chance(0.8) ? ops::compare(m.b, m.random.one_of(kDirections), x, y)
                                          : m.of({DType::kI1, m.random.chance(0.5) ? x->type.shape : Shape{}});
  if (m.random.chance(0.8)) ops::select(m.b, condition, x, m.other(x));
}

void clamp(GraphMaker& m) {
  Value* x = m.any();
  const auto bound = [&] { return m.random.chance(0.5) ? m.other(x) : m.of({x->type.dtype, {}}); };
  Value* low = bound();
  Value* high = bound();
  m.make(kClamp, {low, x, high});
}

void convert(GraphMaker& m) { ops::convert(m.b, m.any(), m.dtype()); }

void bitcast_convert(GraphMaker& m) {
  Value* x = m.any();
  const DType to = m.dtype();
  const int from_bits = info(x->type.dtype).bits, to_bits = info(to).bits;
  Shape shape = x->type.shape;
  if (from_bits > to_bits) {
    shape.push_back(from_bits / to_bits);
  } else if (from_bits < to_bits) {
    if (shape.empty()) return;
    shape.pop_back();
  }
  m.make(kBitcastConvert, {x}, {}, {{to, shape}});
}

// Equal shapes but for dimensions of 1 and those that one operand lacks.
void broadcast_binary(GraphMaker& m) {
  static const std::vector<const OpDef*> kOps = {&kBroadcastAdd,     &kBroadcastSubtract, &kBroadcastMultiply,
                                                 &kBroadcastMaximum, &kBroadcastMinimum,  &kBroadcastDivide};
  Value* x = m.any();
  Shape shape = x->type.shape;
  if (!shape.empty() && m.random.chance(0.5)) shape.erase(shape.begin());
  for (int64_t& extent : shape) extent = m.random.chance(0.3) ? 1 : extent;
  Value* y = m.of({x->type.dtype, shape});
  const bool is_swapped = m.random.chance(0.5);
  m.make(*m.random.one_of(kOps), is_swapped ? Values{y, x} : Values{x, y});
}

// The body of a sample, on values of its arguments' types.
void sample(GraphMaker& m) {
  const ParsedSample& it = m.random.one_of(m.random.one_of(all_samples()));
  if (m.depth() > 0 && it.def->name == "stablehlo.rng") return;  // it is a limit in loops
  ValueMap map;
  for (const auto& argument : it.function().body.arguments) {
    const TensorType& type = argument->type;
    Value* value = m.random.chance(0.7) ? m.any([&](const TensorType& other) { return other == type; }) : nullptr;
    if (!value) {
      std::mt19937_64 random(m.random.bits());
      Sample range = it.sample;
      range.specials = range.specials && m.random.chance(0.1);
      value = m.argument(draw(type, range, random, m.random.below(4)));
    }
    map[argument.get()] = value;
  }
  copy_ops(it.function().body, *m.b.block(), map, false);
}

}  // namespace

std::vector<Recipe> elementwise_recipes() {
  return {
      {"elementwise", 5, elementwise},
      {"arithmetic", 4, arithmetic},
      {"compare_and_select", 1, compare_and_select},
      {"clamp", 0.5, clamp},
      {"convert", 1, convert},
      {"bitcast_convert", 0.5, bitcast_convert},
      {"broadcast_binary", 0.5, broadcast_binary},
      {"sample", 3, sample},
  };
}

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> all = [] {
    std::vector<Recipe> result;
    for (const auto& some :
         {elementwise_recipes(), moving_recipes(), combining_recipes(), nesting_recipes(), quantized_recipes()}) {
      result.insert(result.end(), some.begin(), some.end());
    }
    return result;
  }();
  return all;
}

}  // namespace ingot
