#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aot/analysis/walk.h"
#include "aot/base/join.h"
#include "aot/graph/attributes.h"
#include "aot/graph/builder.h"
#include "aot/graph/result_types.h"
#include "aot/ops/ops.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

// "dimension 1 of %x, tensor<4x?xf32>", for a value with an unknown dimension.
std::string unknown_dim(const Value& value, const std::string& name) {
  const auto dim = std::ranges::find(value.type.shape, kUnknownDim) - value.type.shape.begin();
  return fmt::format("dimension {} of {}, {},", dim, name, to_string(value.type));
}

// Ops whose results are sizes, or about them, whatever their types.
bool asks_for_sizes(const Op& op) {
  return op.is(kGetDimensionSize) || (op.is(kCustomCall) && op.attrs().string("call_target_name") == "shape_assertion");
}

// Gives every value of a block the type that follows from the types of those above it, in order.
class Refiner {
 public:
  bool run(Block& block) {
    bool changed = false;
    for (auto at = block.ops.begin(); at != block.ops.end();) {
      Op& op = **at;
      changed |= enter_regions(op);
      changed |= refine_results(op);
      const bool is_known = std::ranges::all_of(op.results, [](const auto& r) { return r->type.is_static(); });
      if (is_known && !asks_for_sizes(op)) {
        ++at;
        continue;
      }
      at = expand(op);
      changed = true;
    }
    return changed;
  }

 private:
  // What a loop carries has the types of its operands; other regions have static arguments.
  bool enter_regions(Op& op) {
    bool changed = false;
    for (const auto& region : op.regions) {
      for (size_t i = 0; i < region->arguments.size(); ++i) {
        Value& argument = *region->arguments[i];
        if (argument.type.is_static()) continue;
        if (i >= op.operands.size() || !may_agree(argument.type, op.operands[i]->type)) {
          throw_error(op.location,
                      fmt::format("{}: {} is not known", op.name(), unknown_dim(argument, "a region's argument")));
        }
        argument.type = op.operands[i]->type;
        changed = true;
      }
      changed |= run(*region);
    }
    return changed;
  }

  bool refine_results(Op& op) {
    if (std::ranges::all_of(op.results, [](const auto& r) { return r->type.is_static(); })) return false;
    std::vector<TensorType> operands, declared;
    for (const Value* operand : op.operands) operands.push_back(operand->type);
    for (const auto& result : op.results) declared.push_back(result->type);
    if (op.def->is_elementwise) {
      for (TensorType& type : declared) {
        for (const TensorType& operand : operands) {
          const TensorType other{type.dtype, operand.shape, {}, type.quantization};
          if (may_agree(type, other)) type = refined(type, other);
        }
      }
    }
    const std::vector<TensorType> types =
        inferred_types(*op.def, {op.name(), operands, op.attr_map, op.regions, declared, op.location});
    INGOT_CHECK(types.size() == declared.size());
    bool changed = false;
    for (size_t i = 0; i < types.size(); ++i) changed |= refine(*op.result(static_cast<int>(i)), types[i]);
    return changed;
  }

  static bool refine(Value& result, const TensorType& type) {
    if (!may_agree(type, result.type)) {
      throw_error(result.op->location, fmt::format("{}: its result is declared as {}, but is {}", result.op->name(),
                                                   to_string(result.type), to_string(type)));
    }
    const TensorType before = std::exchange(result.type, refined(result.type, type));
    return result.type != before;
  }

  // Puts what the op expands into in its place; gives the first of those ops.
  std::list<std::unique_ptr<Op>>::iterator expand(Op& op) {
    if (!op.def->expand || !op.def->infers_dynamic_shapes) {
      for (const auto& result : op.results) {
        if (result->type.is_static()) continue;
        throw_error(op.location, fmt::format("{}: {} does not follow from its operands", op.name(),
                                             unknown_dim(*result, "its result")));
      }
    }
    Block& block = *op.block;
    const bool is_first = op.self == block.ops.begin();
    const auto before = is_first ? op.self : std::prev(op.self);
    b_.before(op);
    b_.location = op.location;
    ExpandArgs args{b_, op};
    const Values values = op.def->expand(args);
    INGOT_CHECK(values.size() == op.results.size());
    for (size_t i = 0; i < values.size(); ++i) refine(*op.results[i], values[i]->type);
    replace_op(&op, values);
    return is_first ? block.ops.begin() : std::next(before);
  }

  GraphBuilder b_;
};

// The arguments of an entry point, by the names that the user calls them.
class Arguments {
 public:
  explicit Arguments(Function& function) : function_(function) {}

  bool apply(GivenShape& given) {
    bool found = false;
    for (int i = function_.argument_count(); i-- > 0;) {
      if (name(i) == given.name) {
        set(i, given.sizes);
        found = true;
      } else {
        found |= set_named_dims(i, given);
      }
    }
    given.is_used |= found;
    return found;
  }

  void check_all_known() const {
    for (int i = 0; i < function_.argument_count(); ++i) {
      const Value& argument = *function_.body.argument(i);
      if (argument.type.is_static()) continue;
      const auto dim = std::ranges::find(argument.type.shape, kUnknownDim) - argument.type.shape.begin();
      const std::string dim_name = dim_names(i).empty() ? "" : dim_names(i)[dim];
      fail(i, fmt::format("{} is not known; compile with {}--shape {}=SIZE{}",
                          unknown_dim(argument, dim_name.empty() ? "it" : "it ('" + dim_name + "')"),
                          dim_name.empty() ? "" : fmt::format("--shape {}=SIZE or ", dim_name), name(i),
                          argument.type.rank() > 1 ? "xSIZE..." : ""));
    }
  }

 private:
  [[noreturn]] void fail(int i, const std::string& message) const {
    const Location& location = function_.body.argument(i)->location;
    throw_error(location ? location : function_.location,
                fmt::format("@{}: argument {} (%{}): {}", function_.name, i, name(i), message));
  }

  std::string name(int i) const {
    const AttrMap& attrs = function_.argument_attrs[i];
    const auto found = attrs.find(attributes::kName);
    if (found != attrs.end()) return Attrs(attrs, function_.name, function_.location).string(attributes::kName);
    const std::string& written = function_.body.argument(i)->name;
    return written.empty() ? fmt::format("arg{}", i) : written;
  }

  // One for each dimension, "" where it has none; or nothing.
  std::vector<std::string> dim_names(int i) const {
    std::vector<std::string> names;
    const auto found = function_.argument_attrs[i].find(attributes::kDims);
    const auto* list = found == function_.argument_attrs[i].end() ? nullptr : found->second.as<std::vector<Attr>>();
    for (size_t d = 0; list && d < list->size(); ++d) {
      const auto* dim_name = (*list)[d].as<std::string>();
      names.push_back(dim_name ? *dim_name : "");
    }
    names.resize(names.empty() ? 0 : function_.body.argument(i)->type.shape.size());
    return names;
  }

  void set(int i, const Shape& sizes) {
    Value& argument = *function_.body.argument(i);
    const TensorType& type = argument.type;
    if (type.rank() == 0 && is_integer(type.dtype) && sizes.size() == 1) return fix(i, sizes[0]);
    const TensorType given{type.dtype, sizes};
    if (!may_agree(given, type)) {
      fail(i, fmt::format("is {}, so its shape cannot be {}", to_string(type), join(sizes, "x")));
    }
    argument.type = given;
  }

  bool set_named_dims(int i, const GivenShape& given) {
    const std::vector<std::string> names = dim_names(i);
    bool found = false;
    for (size_t d = 0; d < names.size(); ++d) {
      if (names[d] != given.name) continue;
      if (given.sizes.size() != 1) fail(i, fmt::format("dimension '{}' has one size", given.name));
      function_.body.argument(i)->type.shape[d] = given.sizes[0];
      found = true;
    }
    return found;
  }

  // A size that the program takes as an argument becomes a constant; the argument goes.
  void fix(int i, int64_t value) {
    Value* argument = function_.body.argument(i);
    GraphBuilder b;
    b.before(*function_.body.ops.front());
    b.location = argument->location;
    const TensorType type = argument->type;
    replace_all_uses(argument, b.make(kConstant, {}, {{"value", splat_int(type, value)}}, {type}));
    function_.body.arguments.erase(function_.body.arguments.begin() + i);
    function_.argument_attrs.erase(function_.argument_attrs.begin() + i);
    for (int k = i; k < function_.argument_count(); ++k) function_.body.argument(k)->index = k;
  }

  Function& function_;
};

}  // namespace

bool refine_shapes(Module& module, PassContext& context) {
  bool changed = false;
  for (const auto& function : module.functions) {
    Arguments arguments(*function);
    for (GivenShape& given : context.shapes) changed |= arguments.apply(given);
    arguments.check_all_known();
    changed |= Refiner().run(function->body);
    const Values& returned = function->body.terminator()->operands;
    INGOT_CHECK(returned.size() == function->results.size());
    for (size_t i = 0; i < returned.size(); ++i) function->results[i].type = returned[i]->type;
  }
  return changed;
}

}  // namespace ingot
