#include <fmt/format.h>

#include <set>

#include "aot/base/lexer.h"
#include "aot/graph/text/print_attr.h"
#include "aot/lowered/lowered.h"
#include "aot/lowered/unique_names.h"

namespace ingot::lowered {
namespace {

std::string written(const std::string& name) { return is_bare_name(name) ? name : quoted(name); }

class Printer {
 public:
  explicit Printer(const Function& function) : function_(function), names_(function.values.size()) {}

  std::string run() {
    for (size_t k = 0; k < function_.kernels.size(); ++k) {
      text_ += fmt::format("// kernel {}\n{}\n", k, loops::print(function_.kernels[k]));
    }
    open("function " + written(function_.name));
    for (size_t i = 0; i < function_.arguments.size(); ++i) {
      const ValueId argument = function_.body.arguments[i];
      line(fmt::format("argument {}{}", definition(argument), port(function_.arguments[i], "input")));
    }
    for (const Constant& constant : function_.constants) {
      line(fmt::format("constant {} = {}", defined(constant.value), text(*constant.literal)));
    }
    for (const Node& node : function_.body.nodes) print(node);
    std::vector<std::string> results;
    for (size_t i = 0; i < function_.results.size(); ++i) {
      results.push_back(names_[function_.body.results[i]] + port(function_.results[i], "output"));
    }
    line(with_list("return", results));
    close();
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { text_ += indent_ + text + "\n"; }
  void open(const std::string& text) {
    line(text + " {");
    indent_ += "  ";
  }
  void close() {
    indent_.resize(indent_.size() - 2);
    line("}");
  }

  static std::string with_list(const std::string& word, const std::vector<std::string>& list) {
    return list.empty() ? word : fmt::format("{} {}", word, fmt::join(list, ", "));
  }

  // --- values ---

  std::string defined(ValueId value) { return names_[value] = written(unique_.add(function_.values[value].name)); }
  std::string definition(ValueId value) {
    const std::string name = defined(value);
    return fmt::format("{}: {}", name, to_string(function_.type(value)));
  }
  std::vector<std::string> names(const std::vector<ValueId>& values) const {
    std::vector<std::string> names;
    for (const ValueId value : values) names.push_back(names_[value]);
    return names;
  }
  std::vector<std::string> defined(const std::vector<ValueId>& values) {
    std::vector<std::string> names;
    for (const ValueId value : values) names.push_back(defined(value));
    return names;
  }

  static std::string port(const Port& port, std::string_view kind) {
    return port.name.empty() ? "" : fmt::format(" {} {}", port.is_state ? "state" : kind, written(port.name));
  }

  static std::string text(const Literal& literal) {
    std::string text;
    print_literal(text, literal);
    return text;
  }

  // --- nodes ---

  void print(const Block& block) {
    for (const Node& node : block.nodes) print(node);
    line(with_list("return", names(block.results)));
    close();
  }

  void print(const Node& node) {
    switch (node.kind) {
      case NodeKind::kCall:
        return print_calls(node);
      case NodeKind::kCopy: {
        const std::string from = names_[node.operands[0]];
        return line(fmt::format("copy {} to {}", from, defined(node.results[0])));
      }
      case NodeKind::kFill:
        return line(fmt::format("fill {} = {}", defined(node.results[0]), text(*node.fill)));
      case NodeKind::kWhile:
        return print_loop(node);
      case NodeKind::kCase:
        return print_branches(node);
    }
  }

  void print_calls(const Node& node) {
    const std::set<ValueId> results(node.results.begin(), node.results.end());
    std::set<ValueId> made;
    for (size_t k = 0; k < node.calls.size(); ++k) {
      const KernelCall& call = node.calls[k];
      const bool is_hoistable = static_cast<int>(k) < node.hoistable_calls;
      std::string text =
          fmt::format("{} {} (kernel {}{})", k == 0 ? "call" : "then", written(function_.kernels[call.kernel].name),
                      call.kernel, is_hoistable ? ", hoistable" : "");
      for (size_t i = 0; i < call.arguments.size(); ++i) {
        constexpr std::string_view kVerbs[] = {"reads", "writes", "updates"};
        const auto [value, access] = call.arguments[i];
        const bool goes_on = i > 0 && access == call.arguments[i - 1].access;
        text += goes_on ? ", " : fmt::format(" {} ", kVerbs[static_cast<size_t>(access)]);
        const bool is_new = access != Access::kRead && made.insert(value).second;
        text += is_new ? definition(value) : names_[value];
        if (is_new && !results.contains(value)) text += " temporary";
      }
      line(text);
    }
  }

  void print_loop(const Node& loop) {
    const std::string carried = with_list("while", names(loop.operands));
    // The regions stand above the lines that may name the results; these are named first all the same.
    open(loop.results.empty() ? carried : with_list(carried + " gives", defined(loop.results)));
    constexpr const char* kRegions[] = {"condition", "body"};
    for (size_t k = 0; k < loop.regions.size(); ++k) {
      open(with_list(kRegions[k], defined(loop.regions[k].arguments)));
      print(loop.regions[k]);
    }
    close();
  }

  void print_branches(const Node& node) {
    const std::string tested = with_list("case", names(node.operands));
    std::vector<std::string> results;
    for (const ValueId result : node.results) results.push_back(definition(result));
    open(results.empty() ? tested : with_list(tested + " gives", results));
    for (size_t k = 0; k < node.regions.size(); ++k) {
      open(k < node.cases.size() ? fmt::format("on {}", node.cases[k]) : "otherwise");
      print(node.regions[k]);
    }
    close();
  }

  const Function& function_;
  std::vector<std::string> names_;  // of the values above
  UniqueNames unique_;
  std::string text_;
  std::string indent_;
};

}  // namespace

std::string print(const Function& function) { return Printer(function).run(); }

}  // namespace ingot::lowered
