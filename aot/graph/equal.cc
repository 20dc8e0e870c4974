#include "aot/graph/equal.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "aot/graph/text/print_attr.h"

namespace ingot {
namespace {

bool is_empty_list(const Attr& attr) {
  const auto* ints = attr.as<IntsAttr>();
  return ints && ints->values.empty();
}

bool equal_dicts(const DictAttr& a, const DictAttr& b) {
  if (a.tag != b.tag) return false;
  const auto all_of_first_match = [&](const AttrMap& first, const AttrMap& second) {
    return std::all_of(first.begin(), first.end(), [&](const auto& entry) {
      const auto other = second.find(entry.first);
      if (other == second.end()) return !a.tag.empty() && is_empty_list(entry.second);
      return equal_attrs(entry.second, other->second);
    });
  };
  return all_of_first_match(a.entries, b.entries) && all_of_first_match(b.entries, a.entries);
}

class Comparer {
 public:
  bool same(const Module& a, const Module& b) {
    where_ = "module";
    if (a.name != b.name) return differ(fmt::format("the names are '{}' and '{}'", a.name, b.name));
    if (!same_attrs(a.attrs, b.attrs)) return false;
    if (a.functions.size() != b.functions.size()) {
      return differ(fmt::format("{} and {} functions", a.functions.size(), b.functions.size()));
    }
    for (size_t i = 0; i < a.functions.size(); ++i) {
      if (!same(*a.functions[i], *b.functions[i])) return false;
    }
    return true;
  }

  // Operands from outside of what is compared must be the same values.
  bool same(const Op& a, const Op& b) {
    op_ = &a;
    if (a.name() != b.name()) return differ(fmt::format("the other op is {}", b.name()));
    if (a.operands.size() != b.operands.size()) return differ("the numbers of operands differ");
    for (size_t i = 0; i < a.operands.size(); ++i) {
      const auto twin = twins_.find(a.operands[i]);
      const Value* wanted = twin == twins_.end() ? a.operands[i] : twin->second;
      if (wanted != b.operands[i]) return differ(fmt::format("operand {} differs", i));
    }
    return same_but_operands(a, b);
  }

  bool same_but_operands(const Op& a, const Op& b) {
    if (!same_attrs(a.attr_map, b.attr_map)) return false;
    if (a.regions.size() != b.regions.size()) return differ("the numbers of regions differ");
    for (size_t i = 0; i < a.regions.size(); ++i) {
      if (!same(*a.regions[i], *b.regions[i])) return false;
    }
    op_ = &a;
    if (a.results.size() != b.results.size()) return differ("the numbers of results differ");
    for (size_t i = 0; i < a.results.size(); ++i) {
      if (!match(*a.results[i], *b.results[i])) return false;
    }
    return true;
  }

  const std::string& difference() const { return difference_; }

 private:
  bool differ(const std::string& how) {
    difference_ = op_ ? fmt::format("{}: {}: {}", where_, op_->name(), how) : where_ + ": " + how;
    return false;
  }

  bool same(const Function& a, const Function& b) {
    op_ = nullptr;
    where_ = "@" + a.name;
    if (a.name != b.name) return differ("the other function is @" + b.name);
    if (a.is_private != b.is_private) return differ("only one is private");
    if (!same_attrs(a.attrs, b.attrs)) return false;
    if (a.argument_attrs.size() != b.argument_attrs.size()) return differ("the numbers of arguments differ");
    for (size_t i = 0; i < a.argument_attrs.size(); ++i) {
      where_ = fmt::format("@{} argument {}", a.name, i);
      if (!same_attrs(a.argument_attrs[i], b.argument_attrs[i])) return false;
    }
    where_ = "@" + a.name;
    if (a.results.size() != b.results.size()) return differ("the numbers of results differ");
    for (size_t i = 0; i < a.results.size(); ++i) {
      where_ = fmt::format("@{} result {}", a.name, i);
      if (a.results[i].type != b.results[i].type) return differ("the types differ");
      if (!same_attrs(a.results[i].attrs, b.results[i].attrs)) return false;
    }
    where_ = "@" + a.name;
    return same(a.body, b.body);
  }

  bool same(const Block& a, const Block& b) {
    if (a.arguments.size() != b.arguments.size()) return differ("the numbers of block arguments differ");
    for (size_t i = 0; i < a.arguments.size(); ++i) {
      if (!match(*a.arguments[i], *b.arguments[i])) return false;
    }
    if (a.ops.size() != b.ops.size())
      return differ(fmt::format("{} and {} ops in a block", a.ops.size(), b.ops.size()));
    for (auto x = a.ops.begin(), y = b.ops.begin(); x != a.ops.end(); ++x, ++y) {
      if (!same(**x, **y)) return false;
    }
    return true;
  }

  bool match(const Value& a, const Value& b) {
    if (a.type != b.type) return differ(fmt::format("a value is {} and {}", to_string(a.type), to_string(b.type)));
    twins_[&a] = &b;
    return true;
  }

  bool same_attrs(const AttrMap& a, const AttrMap& b) {
    for (const auto& [name, value] : a) {
      const auto other = b.find(name);
      if (other == b.end()) return differ(fmt::format("only the first has the attribute {}", name));
      if (equal_attrs(value, other->second)) continue;
      std::string texts[2];
      print_attr(texts[0], value);
      print_attr(texts[1], other->second);
      return differ(fmt::format("{} is {:.200} and {:.200}", name, texts[0], texts[1]));
    }
    for (const auto& [name, value] : b) {
      if (!a.contains(name)) return differ(fmt::format("only the second has the attribute {}", name));
    }
    return true;
  }

  std::map<const Value*, const Value*> twins_;
  std::string where_;       // the function, or the part of it
  const Op* op_ = nullptr;  // within it
  std::string difference_;
};

}  // namespace

bool equal_attrs(const Attr& a, const Attr& b) {
  if (a.value.index() != b.value.index()) return false;
  if (const auto* x = a.as<FloatAttr>()) {
    const auto* y = b.as<FloatAttr>();
    return x->dtype == y->dtype && std::bit_cast<uint64_t>(x->value) == std::bit_cast<uint64_t>(y->value);
  }
  if (const auto* x = a.as<std::vector<Attr>>()) {
    const auto* y = b.as<std::vector<Attr>>();
    return std::equal(x->begin(), x->end(), y->begin(), y->end(),
                      [](const Attr& m, const Attr& n) { return equal_attrs(m, n); });
  }
  if (const auto* x = a.as<DictAttr>()) return equal_dicts(*x, *b.as<DictAttr>());
  return a == b;
}

bool equal(const Module& a, const Module& b, std::string* difference) {
  Comparer comparer;
  const bool are_equal = comparer.same(a, b);
  if (difference) *difference = comparer.difference();
  return are_equal;
}

bool equal(const Op& a, const Op& b) { return Comparer().same(a, b); }

bool alike(const Op& a, const Op& b) {
  const auto have_one_type = [](const Value* x, const Value* y) { return x->type == y->type; };
  return a.def == b.def && std::ranges::equal(a.operands, b.operands, have_one_type) &&
         Comparer().same_but_operands(a, b);
}

}  // namespace ingot
