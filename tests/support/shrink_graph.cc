#include "tests/support/shrink_graph.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "aot/analysis/walk.h"
#include "aot/base/error.h"
#include "aot/graph/evaluate.h"
#include "aot/graph/text/print.h"
#include "aot/graph/verify.h"
#include "aot/ops/support/build.h"
#include "aot/passes/pass.h"
#include "tests/support/random_graph.h"

namespace ingot {
namespace {

Function& main_of(Module& module) { return *module.functions[0]; }

// Every op but terminators, those of regions before the op that they belong to.
std::vector<Op*> all_ops_of(Module& module) {
  std::vector<Op*> ops;
  for_each_block(module, [&](Block& block) {
    for (const auto& op : block.ops) {
      if (!op->def->is_terminator) ops.push_back(op.get());
    }
  });
  return ops;
}

void drop_result(Function& function, int index) {
  Op* end = function.body.terminator();
  Values kept = end->operands;
  kept.erase(kept.begin() + index);
  function.results.erase(function.results.begin() + index);
  erase(end);
  GraphBuilder b;
  b.at_end(function.body);
  b.create(kFuncReturn, kept);
}

void drop_unused_arguments(Function& function) {
  auto& arguments = function.body.arguments;
  for (size_t i = arguments.size(); i-- > 0;) {
    if (!arguments[i]->uses.empty()) continue;
    arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i));
    function.argument_attrs.erase(function.argument_attrs.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (size_t i = 0; i < arguments.size(); ++i) arguments[i]->index = static_cast<int>(i);
}

// What the ops of the function's body give for its examples.
std::map<const Op*, std::vector<RefTensor>> tensors_of(const Function& function) {
  std::map<const Op*, std::vector<RefTensor>> tensors;
  evaluate(function, examples(function),
           {.adjust = [&](const Op& op, std::span<const RefTensor>, std::vector<RefTensor>& results) {
             std::vector<RefTensor> rounded = results;
             std::ranges::for_each(rounded, round_in_place);
             tensors[&op] = std::move(rounded);
           }});
  return tensors;
}

// Results of the op that are read become arguments.
bool cut(Function& function, Op* op) {
  if (op->block != &function.body || op->operands.empty()) return false;
  const std::vector<RefTensor> tensors = tensors_of(function).at(op);
  for (size_t r = 0; r < tensors.size(); ++r) {
    Value* result = op->results[r].get();
    if (result->uses.empty() || is_token(result->type.dtype)) continue;
    Value* argument = function.body.add_argument(result->type);
    function.argument_attrs.emplace_back();
    set_example(function, function.argument_count() - 1, tensors[r]);
    replace_all_uses(result, argument);
  }
  return true;
}

// Results of the op give way to operands of their type, or in regions to arguments or zeros.
bool bypass(Op* op) {
  bool replaced = false;
  for (const auto& result : op->results) {
    if (result->uses.empty()) continue;
    Values candidates = op->operands;
    for (const auto& argument : op->block->arguments) candidates.push_back(argument.get());
    const auto same = std::ranges::find(candidates, result->type, [](const Value* value) { return value->type; });
    if (same != candidates.end()) {
      replace_all_uses(result.get(), *same);
      replaced = true;
    } else if (op->block->parent_op && !op->operands.empty() && !is_token(result->type.dtype)) {
      GraphBuilder b;
      b.before(*op);
      replace_all_uses(result.get(), ops::zeros_like(b, result.get()));
      replaced = true;
    }
  }
  return replaced;
}

// --- dimensions ---

RefTensor cropped(const RefTensor& tensor, const Shape& shape) {
  RefTensor part({tensor.type.dtype, shape});
  if (part.elements() == 0) return part;
  const Shape strides = row_major_strides(tensor.type.shape);
  Shape at(shape.size(), 0);
  int64_t to = 0;
  do part.copy_element(to++, tensor, linear_index(at, strides));
  while (next_index(at, shape));
  return part;
}

struct Substitution {
  int64_t from, to;
  bool in_attributes;

  void apply(int64_t& number) const {
    if (number == from) number = to;
  }
  void apply(Shape& shape) const {
    for (int64_t& extent : shape) apply(extent);
  }
  void apply(Attr& attr) const {
    if (auto* literal = std::get_if<LiteralRef>(&attr.value)) {
      Shape shape = (*literal)->type.shape;
      apply(shape);
      RefTensor tensor = cropped(from_literal(**literal), shape);
      if (in_attributes && tensor.type.dtype == DType::kI64) apply(tensor.i);
      *literal = to_literal(tensor);
    }
    if (!in_attributes) return;
    if (auto* ints = std::get_if<IntsAttr>(&attr.value)) apply(ints->values);
    if (auto* list = std::get_if<std::vector<Attr>>(&attr.value)) {
      for (Attr& item : *list) apply(item);
    }
  }
  void apply(Function& function) const {
    for (AttrMap& attrs : function.argument_attrs) {
      if (const auto example = attrs.find(kExampleAttr); example != attrs.end()) {
        const Substitution in_shape{from, to, false};
        in_shape.apply(example->second);
      }
    }
    for (FunctionResult& result : function.results) apply(result.type.shape);
    for_each_block(function.body, [&](Block& block) {
      for (auto& argument : block.arguments) apply(argument->type.shape);
      for (auto& op : block.ops) {
        for (auto& result : op->results) apply(result->type.shape);
        for (auto& [name, attr] : op->attr_map) apply(attr);
      }
    });
  }
};

std::set<int64_t, std::greater<>> extents_of(Module& module) {
  std::set<int64_t, std::greater<>> extents;
  for_each_block(module, [&](Block& block) {
    for (const auto& argument : block.arguments) {
      extents.insert(argument->type.shape.begin(), argument->type.shape.end());
    }
  });
  return extents;
}

// --- the search ---

class Shrinker {
 public:
  Shrinker(const Module& graph, const std::function<bool(const Module&)>& fails, int tries_max)
      : best_(copy_module(graph)), fails_(fails), tries_left_(tries_max) {}

  std::unique_ptr<Module> run() {
    for (bool smaller = true; smaller && tries_left_ > 0;) {
      smaller = drop_results();
      smaller |= replace_ops(&cut_op);
      smaller |= replace_ops(&bypass_op);
      smaller |= shorten_dimensions();
      smaller |= clear_arguments();
    }
    return std::move(best_);
  }

 private:
  // Keeps the changed program if it is one, and still fails.
  bool attempt(const std::function<bool(Module&)>& change) {
    if (tries_left_ <= 0) return false;
    std::unique_ptr<Module> candidate = copy_module(*best_);
    try {
      if (!change(*candidate)) return false;
      PassContext context;
      dce(*candidate, context);
      drop_unused_arguments(main_of(*candidate));
      verify(*candidate);
      --tries_left_;
      if (!fails_(*candidate)) return false;
    } catch (const Error&) {
      return false;
    }
    best_ = std::move(candidate);
    return true;
  }

  bool drop_results() {
    bool smaller = false;
    for (int r = static_cast<int>(main_of(*best_).results.size()); r-- > 0;) {
      if (main_of(*best_).results.size() == 1) break;
      smaller |= attempt([&](Module& module) {
        drop_result(main_of(module), r);
        return true;
      });
    }
    return smaller;
  }

  static bool cut_op(Module& module, Op* op) { return cut(main_of(module), op); }
  static bool bypass_op(Module&, Op* op) { return bypass(op); }

  bool replace_ops(bool (*replace)(Module&, Op*)) {
    bool smaller = false;
    for (size_t k = all_ops_of(*best_).size(); k-- > 0;) {
      smaller |= attempt([&](Module& module) {
        const std::vector<Op*> ops = all_ops_of(module);
        return k < ops.size() && replace(module, ops[k]);
      });
    }
    return smaller;
  }

  bool shorten_dimensions() {
    bool smaller = false;
    for (const int64_t extent : extents_of(*best_)) {
      for (const int64_t to : {int64_t{1}, extent / 2, extent - 1}) {
        if (to < 1 || to >= extent) continue;
        for (const bool in_attributes : {false, true}) {
          smaller |= attempt([&](Module& module) {
            Substitution{extent, to, in_attributes}.apply(main_of(module));
            return true;
          });
        }
      }
    }
    return smaller;
  }

  // State becomes an input; examples zeros.
  bool clear_arguments() {
    bool smaller = attempt([](Module& module) {
      bool had_state = false;
      for (AttrMap& attrs : main_of(module).argument_attrs) had_state |= attrs.erase("ingot.state") > 0;
      for (FunctionResult& result : main_of(module).results) result.attrs.erase("ingot.state");
      return had_state;
    });
    for (int i = 0; i < main_of(*best_).argument_count(); ++i) {
      smaller |= attempt([&](Module& module) {
        Function& function = main_of(module);
        if (i >= function.argument_count()) return false;
        const RefTensor zeros(function.body.argument(i)->type);
        const RefTensor old = examples(function)[i];
        if (old.f == zeros.f && old.i == zeros.i) return false;
        set_example(function, i, zeros);
        return true;
      });
    }
    return smaller;
  }

  std::unique_ptr<Module> best_;
  const std::function<bool(const Module&)>& fails_;
  int tries_left_;
};

}  // namespace

std::unique_ptr<Module> shrink_graph(const Module& graph, const std::function<bool(const Module&)>& fails,
                                     int tries_max) {
  return Shrinker(graph, fails, tries_max).run();
}

std::string write_graph(const Module& graph, const std::string& name, const std::string& comment) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / name;
  std::ofstream(path) << "// " << comment << "\n" << print(graph);
  return path.string();
}

}  // namespace ingot
