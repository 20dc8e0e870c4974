#include "aot/graph/text/op_printer.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/base/lexer.h"
#include "aot/graph/text/assembly_custom.h"

namespace ingot {
namespace {

using Kind = AssemblyItem::Kind;

// A value's name as an identifier: digits alone stand for unnamed values, other characters become '_'.
std::string clean(std::string name) {
  for (char& c : name) {
    const bool is_digit = c >= '0' && c <= '9';
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!is_digit && !is_letter && c != '.' && c != '$' && c != '-') c = '_';
  }
  if (!name.empty() && name[0] >= '0' && name[0] <= '9') name.insert(0, "_");
  return name;
}

// Results from `first` up to the next one with a name of its own share the name of the first.
size_t group_end(const Op& op, size_t first) {
  size_t end = first + 1;
  while (end < op.results.size() && op.results[end]->name.empty()) ++end;
  return end;
}

template <typename T>
bool holds(const Attr& attr, DType dtype) {
  const T* value = attr.as<T>();
  return value && value->dtype == dtype;
}

// Whether an attribute is what the format's item reads.
bool fits(const AssemblyItem& item, const Attr& attr) {
  switch (item.kind) {
    case Kind::kInts:
      return holds<IntsAttr>(attr, DType::kI64);
    case Kind::kBools:
      return holds<IntsAttr>(attr, DType::kI1);
    case Kind::kInt:
      return holds<IntAttr>(attr, DType::kI64);
    case Kind::kBool:
      return attr.as<bool>();
    case Kind::kFloat:
      return holds<FloatAttr>(attr, DType::kF64);
    case Kind::kString:
      return attr.as<std::string>();
    case Kind::kSymbol:
      return attr.as<SymbolAttr>();
    case Kind::kLiteral:
      return attr.as<LiteralRef>();
    case Kind::kEnum:
      return attr.as<EnumAttr>() && attr.as<EnumAttr>()->kind == item.enum_kind;
    default:
      return true;
  }
}

// Whether a format names as many operands as an op has; a form by hand alone says so itself. Ops on tensors of unknown
// sizes may have any number, until their types are inferred.
bool names_operands(const Assembly& assembly, const Op& op) {
  if (assembly.size() == 1 && assembly[0].kind == Kind::kCustom) return true;
  const auto count = [&](Kind kind) { return std::ranges::count(assembly, kind, &AssemblyItem::kind); };
  return count(Kind::kOperands) > 0 || count(Kind::kOperand) == static_cast<std::ptrdiff_t>(op.operands.size());
}

// Whether the pretty form can say everything about the op.
bool fits(const Assembly& assembly, const Op& op) {
  return names_operands(assembly, op) && std::all_of(assembly.begin(), assembly.end(), [&](const AssemblyItem& item) {
           if (item.kind == Kind::kCustom) {
             const auto can_print = find_custom(item.name).can_print;
             return !can_print || can_print(op);
           }
           const auto found = op.attr_map.find(item.name);
           const bool is_attribute = !fits(item, UnitAttr{});
           return !is_attribute || (found != op.attr_map.end() && fits(item, found->second));
         });
}

bool all_values_are(const Values& values, const TensorType& type) {
  return std::all_of(values.begin(), values.end(), [&](const Value* value) { return value->type == type; });
}

}  // namespace

ValueNames::ValueNames(const Block& body) {
  reserve(body);
  name_arguments(body, nullptr);
  name(body);
}

void ValueNames::reserve(const Block& block) {
  for (const auto& argument : block.arguments) given_.insert(clean(argument->name));
  for (const auto& op : block.ops) {
    for (const auto& result : op->results) given_.insert(clean(result->name));
    for (const auto& region : op->regions) reserve(*region);
  }
}

void ValueNames::name(const Block& block) {
  for (const auto& op : block.ops) {
    for (size_t first = 0; first < op->results.size();) {
      const std::string& given = op->results[first]->name;
      const std::string name = "%" + (given.empty() ? std::to_string(next_number_++) : unique(clean(given)));
      const size_t end = group_end(*op, first);
      for (size_t i = first; i < end; ++i) {
        names_[op->results[i].get()] = end - first == 1 ? name : fmt::format("{}#{}", name, i - first);
      }
      first = end;
    }
    for (const auto& region : op->regions) {
      name_arguments(*region, region == op->regions[0] ? nullptr : op->regions[0].get());
      this->name(*region);
    }
  }
}

// Like-typed arguments of an op's later regions have the names
// of its first region's (stablehlo.while writes them once).
void ValueNames::name_arguments(const Block& block, const Block* first) {
  const bool shares =
      first && std::equal(block.arguments.begin(), block.arguments.end(), first->arguments.begin(),
                          first->arguments.end(), [](const auto& a, const auto& b) { return a->type == b->type; });
  for (size_t i = 0; i < block.arguments.size(); ++i) {
    const Value& argument = *block.arguments[i];
    names_[&argument] = shares                  ? names_[first->arguments[i].get()]
                        : argument.name.empty() ? "%" + next_free("arg", next_argument_)
                                                : "%" + unique(clean(argument.name));
  }
}

std::string ValueNames::unique(const std::string& wanted) {
  if (used_.insert(wanted).second) return wanted;
  return next_free(wanted + "_", suffixes_[wanted]);
}

std::string ValueNames::next_free(const std::string& stem, int& number) {
  while (true) {
    std::string name = stem + std::to_string(number++);
    if (!given_.contains(name) && used_.insert(name).second) return name;
  }
}

const std::string& ValueNames::of(const Value* value) const {
  static const std::string kOutside = "%outside";  // another function's
  const auto found = names_.find(value);
  return found == names_.end() ? kOutside : found->second;
}

void OpPrinter::space() {
  if (!out.empty() && out.back() != ' ' && out.back() != '(') out += ' ';
}

void OpPrinter::line() {
  out += '\n';
  out.append(static_cast<size_t>(depth) * 2, ' ');
}

void OpPrinter::values(const Values& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) out += ", ";
    value(values[i]);
  }
}

void OpPrinter::types(const Values& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) out += ", ";
    print_type(out, values[i]->type);
  }
}

void OpPrinter::functional_type(const Op& op) {
  out += '(';
  types(op.operands);
  out += ") -> ";
  if (op.results.size() == 1) return print_type(out, op.result()->type);
  out += '(';
  for (size_t i = 0; i < op.results.size(); ++i) {
    if (i) out += ", ";
    print_type(out, op.results[i]->type);
  }
  out += ')';
}

void OpPrinter::location(const Location& location) {
  if (!options_.locations) return;
  out += ' ';
  if (locations_) {
    locations_->print(out, location);
  } else {
    print_location(out, location);
  }
}

void OpPrinter::argument(const Value& argument) {
  value(&argument);
  out += ": ";
  print_type(out, argument.type);
}

void OpPrinter::arguments(const Block& block) {
  for (size_t i = 0; i < block.arguments.size(); ++i) {
    if (i) out += ", ";
    argument(*block.arguments[i]);
    location(block.arguments[i]->location);
  }
}

void OpPrinter::region(const Block& block, bool with_arguments) {
  out += '{';
  if (with_arguments && !block.arguments.empty()) {
    line();
    out += "^bb0(";
    arguments(block);
    out += "):";
  }
  ++depth;
  for (const auto& inner : block.ops) {
    line();
    op(*inner);
  }
  --depth;
  line();
  out += '}';
}

void OpPrinter::op(const Op& op) {
  for (size_t first = 0; first < op.results.size();) {
    if (first) out += ", ";
    const size_t end = group_end(op, first);
    const std::string& name = names_.of(op.results[first].get());
    if (end - first == 1) {
      out += name;
    } else {
      out += fmt::format("{}:{}", name.substr(0, name.rfind('#')), end - first);
    }
    first = end;
  }
  if (!op.results.empty()) out += " = ";
  const Form& form = form_of(*op.def);
  if (!form.assembly.empty() && fits(form.assembly, op)) {
    // In the body of a function, func is the default dialect.
    const bool is_short = op.block && op.block->parent_function && op.name().starts_with("func.");
    out += is_short ? op.name().substr(5) : op.name();
    size_t next_operand = 0;
    for (const AssemblyItem& item : form.assembly) this->item(op, item, next_operand);
  } else {
    generic(op);
  }
  location(op.location);
}

void OpPrinter::attr_dict(const Op& op) {
  AttrMap rest = op.attr_map;
  for (const AssemblyItem& named : form_of(*op.def).named) rest.erase(named.name);
  if (rest.empty()) return;
  space();
  print_attr_dict(out, rest);
}

bool OpPrinter::is_present(const Op& op, const Assembly& group) const {
  for (const AssemblyItem& item : group) {
    if (item.kind == Kind::kTypes) return !op.operands.empty();
    if (item.kind == Kind::kText) continue;
    const auto found = op.attr_map.find(item.name);
    return found != op.attr_map.end() && fits(item, found->second);
  }
  return false;
}

void OpPrinter::item(const Op& op, const AssemblyItem& item, size_t& next_operand) {
  switch (item.kind) {
    case Kind::kText:
      if (item.name != "," && item.name != "(" && item.name != ")") space();
      out += item.name;
      return;
    case Kind::kOperands:
      if (next_operand < op.operands.size()) {
        space();
        values({op.operands.begin() + static_cast<std::ptrdiff_t>(next_operand), op.operands.end()});
        next_operand = op.operands.size();
      }
      return;
    case Kind::kOperand:
      space();
      value(op.operands[next_operand++]);
      return;
    case Kind::kAttrDict:
      return attr_dict(op);
    case Kind::kGroup:
      if (is_present(op, item.group)) {
        for (const AssemblyItem& inner : item.group) this->item(op, inner, next_operand);
      }
      return;
    case Kind::kCustom:
      return find_custom(item.name).print(*this, op);
    case Kind::kTypes:
      space();
      return types(op.operands);
    case Kind::kTypeSame:
    case Kind::kTypeFunctional:
    case Kind::kTypeArrow:
    case Kind::kTypeResult:
    case Kind::kTypeOperands:
    case Kind::kTypeSelect:
      return type_directive(op, item.kind);
    default:
      break;
  }
  space();
  const Attr& attr = op.attr_map.find(item.name)->second;
  switch (item.kind) {
    case Kind::kInts:
      return print_int_list(out, attr.as<IntsAttr>()->values);
    case Kind::kBools:
      return print_bool_list(out, attr.as<IntsAttr>()->values);
    case Kind::kInt:
      out += std::to_string(attr.as<IntAttr>()->value);
      return;
    case Kind::kFloat:
      return print_float(out, DType::kF64, attr.as<FloatAttr>()->value);
    case Kind::kEnum:
      out += attr.as<EnumAttr>()->value;
      return;
    default:
      return print_attr(out, attr);
  }
}

void OpPrinter::type_directive(const Op& op, Kind kind) {
  out += " : ";
  const bool has_one_result = op.results.size() == 1;
  switch (kind) {
    case Kind::kTypeSame: {
      if (op.operands.empty() && !has_one_result) break;
      const TensorType& type = has_one_result ? op.result()->type : op.operand(0)->type;
      const bool same = all_values_are(op.operands, type) && op.results.size() <= 1;
      if (same) return print_type(out, type);
      break;
    }
    case Kind::kTypeArrow:
      if (op.operands.empty()) break;
      types(op.operands);
      out += " -> ";
      if (has_one_result) return print_type(out, op.result()->type);
      out += '(';
      for (size_t i = 0; i < op.results.size(); ++i) {
        if (i) out += ", ";
        print_type(out, op.results[i]->type);
      }
      out += ')';
      return;
    case Kind::kTypeResult:
      if (has_one_result) return print_type(out, op.result()->type);
      break;
    case Kind::kTypeOperands:
      if (!op.operands.empty()) return types(op.operands);
      break;
    case Kind::kTypeSelect:
      if (has_one_result && op.operands.size() == 3 && op.operand(1)->type == op.result()->type &&
          op.operand(2)->type == op.result()->type) {
        types({op.operand(0), op.result()});
        return;
      }
      break;
    default:
      break;
  }
  functional_type(op);
}

void OpPrinter::generic(const Op& op) {
  out += fmt::format("\"{}\"(", op.name());
  values(op.operands);
  out += ')';
  if (!op.attr_map.empty()) {
    out += " <";
    print_attr_dict(out, op.attr_map);
    out += '>';
  }
  if (!op.regions.empty()) {
    out += " (";
    for (size_t i = 0; i < op.regions.size(); ++i) {
      if (i) out += ", ";
      region(*op.regions[i], true);
    }
    out += ')';
  }
  out += " : ";
  functional_type(op);
}

const OpPrinter::Form& OpPrinter::form_of(const OpDef& def) {
  auto [found, is_new] = forms_.try_emplace(&def);
  if (is_new) {
    found->second.assembly = compile_assembly(def.assembly);
    found->second.named = named_attributes(found->second.assembly);
  }
  return found->second;
}

}  // namespace ingot
