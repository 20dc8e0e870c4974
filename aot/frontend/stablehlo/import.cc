#include "aot/frontend/stablehlo/import.h"

#include <fmt/format.h>

#include <set>

#include "aot/base/error.h"
#include "aot/frontend/stablehlo/library_calls.h"
#include "aot/frontend/stablehlo/names.h"
#include "aot/frontend/stablehlo/xla_windows.h"
#include "aot/graph/attributes.h"
#include "aot/graph/op.h"
#include "aot/ops/ops.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

constexpr std::string_view kAliasAttr = "tf.aliasing_output";
constexpr std::string_view kDonorAttr = "jax.buffer_donor";
constexpr std::string_view kGlobalConstantAttr = "jax.global_constant";
constexpr std::string_view kResultInfoAttr = "jax.result_info";
constexpr int kNone = -1;

const std::string* find_string(const AttrMap& attrs, std::string_view name) {
  const auto found = attrs.find(name);
  return found == attrs.end() ? nullptr : found->second.as<std::string>();
}

void erase(AttrMap& attrs, std::string_view name) {
  const auto found = attrs.find(name);
  if (found != attrs.end()) attrs.erase(found);
}

class Importer {
 public:
  explicit Importer(Function& function)
      : function_(function),
        result_of_(function.body.arguments.size(), kNone),
        argument_of_(function.results.size(), kNone) {}

  void run() {
    match_named_state();
    match_aliases();
    match_donors();
    name_arguments();
    name_results();
    name_dimensions();
    check_defaults();
    write();
  }

 private:
  [[noreturn]] void fail(int argument, const std::string& message) const {
    const Value& value = *function_.body.argument(argument);
    throw_error(value.location ? value.location : function_.location,
                fmt::format("@{}: argument {} (%{}): {}", function_.name, argument, value.name, message));
  }

  void claim(int argument, int result) {
    const TensorType& type = function_.body.argument(argument)->type;
    const TensorType& result_type = function_.results[result].type;
    if (type != result_type) {
      fail(argument, fmt::format("is {}, but result {}, which is to replace it, is {}", to_string(type), result,
                                 to_string(result_type)));
    }
    if (argument_of_[result] != kNone) {
      fail(argument, fmt::format("result {} replaces argument {} already", result, argument_of_[result]));
    }
    if (result_of_[argument] != kNone && result_of_[argument] != result) {
      fail(argument, fmt::format("is to be replaced by result {} and by result {}", result_of_[argument], result));
    }
    result_of_[argument] = result;
    argument_of_[result] = argument;
  }

  void match_named_state() {
    for (int i = 0; i < function_.argument_count(); ++i) {
      const std::string* name = find_string(function_.argument_attrs[i], attributes::kState);
      if (!name) continue;
      for (size_t r = 0; r < function_.results.size(); ++r) {
        const std::string* other = find_string(function_.results[r].attrs, attributes::kState);
        if (other && *other == *name) claim(i, static_cast<int>(r));
      }
    }
  }

  void match_aliases() {
    for (int i = 0; i < function_.argument_count(); ++i) {
      const auto found = function_.argument_attrs[i].find(kAliasAttr);
      if (found == function_.argument_attrs[i].end() || result_of_[i] != kNone) continue;
      const auto* index = found->second.as<IntAttr>();
      if (!index || index->value < 0 || index->value >= static_cast<int64_t>(function_.results.size())) {
        fail(i, fmt::format("{} must be the index of one of {} results", kAliasAttr, function_.results.size()));
      }
      claim(i, static_cast<int>(index->value));
    }
  }

  void match_donors() {
    for (int i = 0; i < function_.argument_count(); ++i) {
      const auto found = function_.argument_attrs[i].find(kDonorAttr);
      if (found == function_.argument_attrs[i].end() || result_of_[i] != kNone) continue;
      const bool* is_donor = found->second.as<bool>();
      if (is_donor && !*is_donor) continue;
      for (size_t r = 0; r < function_.results.size(); ++r) {
        if (argument_of_[r] != kNone || function_.results[r].type != function_.body.argument(i)->type) continue;
        claim(i, static_cast<int>(r));
        break;
      }
    }
  }

  // `wanted`, or with a number behind it that makes it new.
  static std::string unique(std::set<std::string>& taken, const std::string& wanted) {
    std::string name = wanted;
    for (int i = 1; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
    return name;
  }

  std::string argument_name(int i) const {
    const AttrMap& attrs = function_.argument_attrs[i];
    for (const std::string_view attr : {attributes::kState, attributes::kName}) {
      if (const std::string* name = find_string(attrs, attr)) return *name;
    }
    const Location& location = function_.body.argument(i)->location;
    if (location && location->kind == LocationNode::Kind::kName) {
      if (const auto name = dotted_name(location->text)) return *name;
    }
    return fmt::format("arg{}", i);
  }

  void name_arguments() {
    std::set<std::string> taken;
    for (int i = 0; i < function_.argument_count(); ++i) argument_names_.push_back(unique(taken, argument_name(i)));
  }

  // "result[1]['loss']" is result.1.loss in full and loss in short; "result['loss']" is loss, "[1]" is none.
  struct ResultName {
    std::string full, brief;
  };
  ResultName result_name(size_t i) const {
    const AttrMap& attrs = function_.results[i].attrs;
    if (argument_of_[i] != kNone) return {argument_names_[argument_of_[i]], argument_names_[argument_of_[i]]};
    for (const std::string_view attr : {attributes::kState, attributes::kName}) {
      if (const std::string* name = find_string(attrs, attr)) return {*name, *name};
    }
    const std::string otherwise = fmt::format("result{}", i);
    const std::string* info = find_string(attrs, kResultInfoAttr);
    const auto path = info ? dotted_name(*info) : std::nullopt;
    if (!path) return {otherwise, otherwise};
    std::string_view full = *path;
    const auto is_number = [](std::string_view part) {
      return !part.empty() && part.find_first_not_of("0123456789") == part.npos;
    };
    if (full == "result") full = "";
    if (full.starts_with("result.")) full = without_first(full);
    std::string_view brief = full;
    if (is_number(brief.substr(0, brief.find('.')))) brief = without_first(brief);
    if (brief.empty()) return {otherwise, otherwise};
    return {std::string(full), std::string(brief)};
  }

  void name_results() {
    std::vector<ResultName> names;
    std::multiset<std::string> brief_names;
    for (size_t i = 0; i < function_.results.size(); ++i) {
      names.push_back(result_name(i));
      brief_names.insert(names.back().brief);
    }
    std::set<std::string> taken;
    for (const ResultName& name : names) {
      result_names_.push_back(unique(taken, brief_names.count(name.brief) > 1 ? name.full : name.brief));
    }
  }

  // JAX computes the sizes that its program calls by names from the shapes of the arguments, and passes them to a
  // function whose arguments say the names.
  void name_dimensions() {
    for (const auto& op : function_.body.ops) {
      const Function* callee = op->is(kCall) ? function_.module->find(op->attrs().string("callee")) : nullptr;
      for (int i = 0; callee && i < callee->argument_count(); ++i) {
        const std::string* name = find_string(callee->argument_attrs[i], kGlobalConstantAttr);
        if (name && !name->empty()) name_dimension(op->operand(i), *name);
      }
    }
  }

  void name_dimension(const Value* size, const std::string& name) {
    while (size->op && size->op->is(kConvert)) size = size->op->operand(0);
    if (!size->op || !size->op->is(kGetDimensionSize)) return;
    const Value& argument = *size->op->operand(0);
    if (argument.block != &function_.body) return;
    AttrMap& attrs = function_.argument_attrs[argument.index];
    Attr& dims = attrs.try_emplace(attributes::kDims, std::vector<Attr>(argument.type.rank(), Attr(""))).first->second;
    std::get<std::vector<Attr>>(dims.value)[size->op->attrs().integer("dimension")] = name;
  }

  void check_defaults() const {
    for (int i = 0; i < function_.argument_count(); ++i) {
      const AttrMap& attrs = function_.argument_attrs[i];
      const auto found = attrs.find(attributes::kDefault);
      if (found == attrs.end()) continue;
      const auto* literal = found->second.as<LiteralRef>();
      const TensorType& type = function_.body.argument(i)->type;
      if (!literal || (*literal)->type != type) {
        fail(i, fmt::format("its {} must be of its own type, as in dense<0.1> : {}", attributes::kDefault,
                            to_string(type)));
      }
      if (find_string(attrs, attributes::kState) || result_of_[i] != kNone) {
        fail(i, fmt::format("is state, which has no {}; state starts from a file or the entry point init",
                            attributes::kDefault));
      }
    }
  }

  void write() {
    for (int i = 0; i < function_.argument_count(); ++i) {
      AttrMap& attrs = function_.argument_attrs[i];
      attrs.insert_or_assign(std::string(attributes::kName), argument_names_[i]);
      if (result_of_[i] != kNone) attrs.insert_or_assign(std::string(attributes::kState), argument_names_[i]);
      erase(attrs, kAliasAttr);
      erase(attrs, kDonorAttr);
    }
    for (size_t i = 0; i < function_.results.size(); ++i) {
      AttrMap& attrs = function_.results[i].attrs;
      attrs.insert_or_assign(std::string(attributes::kName), result_names_[i]);
      if (argument_of_[i] != kNone)
        attrs.insert_or_assign(std::string(attributes::kState), argument_names_[argument_of_[i]]);
      erase(attrs, kResultInfoAttr);
    }
  }

  Function& function_;
  std::vector<int> result_of_;    // for each argument, the result that replaces it, or kNone
  std::vector<int> argument_of_;  // for each result, the argument that it replaces, or kNone
  std::vector<std::string> argument_names_, result_names_;
};

std::string given_name(const AttrMap& attrs) {
  const std::string* name = find_string(attrs, attributes::kName);
  return name ? *name : "";
}

}  // namespace

void import_stablehlo(Module& module) {
  replace_library_calls(module);
  follow_xla(module);
  for (const auto& function : module.functions) {
    if (!function->is_private) Importer(*function).run();
  }
}

std::vector<std::string> argument_names(const Function& function) {
  std::vector<std::string> names;
  for (const AttrMap& attrs : function.argument_attrs) names.push_back(given_name(attrs));
  return names;
}

std::vector<std::string> result_names(const Function& function) {
  std::vector<std::string> names;
  for (const FunctionResult& result : function.results) names.push_back(given_name(result.attrs));
  return names;
}

}  // namespace ingot
