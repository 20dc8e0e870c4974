#include "aot/graph/text/print.h"

#include "aot/graph/text/op_printer.h"

namespace ingot {
namespace {

void print_attributes(std::string& out, const AttrMap& attrs) {
  if (attrs.empty()) return;
  out += " attributes ";
  print_attr_dict(out, attrs);
}

void print_results(std::string& out, const Function& function) {
  if (function.results.empty()) return;
  out += " -> ";
  const bool is_bare = function.results.size() == 1 && function.results[0].attrs.empty();
  if (!is_bare) out += '(';
  for (size_t i = 0; i < function.results.size(); ++i) {
    if (i) out += ", ";
    print_type(out, function.results[i].type);
    if (function.results[i].attrs.empty()) continue;
    out += ' ';
    print_attr_dict(out, function.results[i].attrs);
  }
  if (!is_bare) out += ')';
}

std::string print_function(const Function& function, const PrintOptions& options, LocationPrinter* locations,
                           int depth) {
  const ValueNames names(function.body);
  OpPrinter printer(names, options, locations);
  printer.depth = depth;
  printer.out = std::string(static_cast<size_t>(depth) * 2, ' ') + "func.func ";
  if (function.is_private) printer.out += "private ";
  print_symbol(printer.out, function.name);
  printer.out += '(';
  for (int i = 0; i < function.argument_count(); ++i) {
    if (i) printer.out += ", ";
    printer.argument(*function.body.argument(i));
    if (!function.argument_attrs[i].empty()) {
      printer.out += ' ';
      print_attr_dict(printer.out, function.argument_attrs[i]);
    }
    printer.location(function.body.argument(i)->location);
  }
  printer.out += ')';
  print_results(printer.out, function);
  print_attributes(printer.out, function.attrs);
  printer.out += ' ';
  printer.region(function.body, false);
  printer.location(function.location);
  printer.out += '\n';
  return std::move(printer.out);
}

const Block& outermost(const Block& block) {
  return block.parent_op && block.parent_op->block ? outermost(*block.parent_op->block) : block;
}

}  // namespace

std::string print(const Module& module, const PrintOptions& options) {
  LocationPrinter locations;
  std::string out = "module";
  if (!module.name.empty()) {
    out += ' ';
    print_symbol(out, module.name);
  }
  print_attributes(out, module.attrs);
  out += " {\n";
  for (const auto& function : module.functions) out += print_function(*function, options, &locations, 1);
  out += '}';
  if (options.locations) {
    out += ' ';
    locations.print(out, module.location);
  }
  out += '\n';
  locations.print_definitions(out);
  return out;
}

std::string print(const Function& function, const PrintOptions& options) {
  return print_function(function, options, nullptr, 0);
}

std::string print(const Op& op, const PrintOptions& options) {
  static const Block kNowhere;
  const ValueNames names(op.block ? outermost(*op.block) : kNowhere);
  OpPrinter printer(names, options, nullptr);
  printer.op(op);
  return std::move(printer.out);
}

}  // namespace ingot
