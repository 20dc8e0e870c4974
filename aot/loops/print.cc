// The text of a kernel. One statement a line;
// a value that a statement uses more than once has a line of its own before it.
//
//   kernel scale lanes 8 tasks 4 (x: f32[1000], y: f32[1000] out aliases x, s: f32[64] scratch) {
//     tile acc: f32x8[6, 2]
//     for i in 256*task .. min(1000, 256*task + 256) by 8 {
//       %0 = lt(i32[i + lane], splat(i32(1000)))
//       let q = divide(ui32[i], ui32(24)) in 0 .. 41
//       store y[i + lane] = multiply(load x[i + lane where %0], splat(f32(2))) where %0
//     }
//   }
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "aot/base/error.h"
#include "aot/loops/loop.h"
#include "aot/loops/scalar.h"

namespace ingot::loops {
namespace {

// As a decimal number where that reads back as the same value, else as bits.
std::string float_text(DType dtype, Bits bits) {
  const double value = float_of_bits(dtype, bits);
  std::string text = dtype == DType::kF32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  const size_t exponent = text.find('e');
  if (exponent != std::string::npos && text.find('.') == std::string::npos) text.insert(exponent, ".0");
  const bool reads_back = std::isfinite(value) && bits_of_float(dtype, std::strtod(text.c_str(), nullptr)) == bits;
  return reads_back ? text : fmt::format("0x{:x}", bits);
}

std::string constant_text(DType dtype, Bits bits) {
  const std::string number = is_float(dtype)      ? float_text(dtype, bits)
                             : is_unsigned(dtype) ? std::to_string(bits)
                                                  : std::to_string(int_of_bits(dtype, bits));
  return fmt::format("{}({})", to_string(dtype), number);
}

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel) {}

  std::string run() {
    text_ = fmt::format("kernel {} lanes {} tasks {} (", kernel_.name, kernel_.lanes(), kernel_.task_count);
    for (size_t k = 0; k < kernel_.buffers.size(); ++k) text_ += (k == 0 ? "" : ", ") + buffer_text(kernel_.buffers[k]);
    text_ += ") {\n";
    indent_ = "  ";
    for (const Tile& tile : kernel_.tiles) {
      std::string dims;
      for (const int64_t dim : tile.dims) dims += (dims.empty() ? "" : ", ") + std::to_string(dim);
      line(fmt::format("tile {}: {}[{}]", tile.name, type_text(tile.dtype, tile.lanes), dims));
    }
    print(kernel_.body);
    return text_ + "}\n";
  }

 private:
  void line(const std::string& text) { text_ += indent_ + text + "\n"; }

  static std::string type_text(DType dtype, int lanes) {
    return to_string(dtype) + (lanes > 1 ? "x" + std::to_string(lanes) : "");
  }

  std::string buffer_text(const Buffer& buffer) const {
    constexpr std::string_view kRoles[] = {"", " out", " scratch"};
    std::string text = fmt::format("{}: {}[{}]{}", buffer.name, to_string(buffer.dtype), buffer.elements,
                                   kRoles[static_cast<size_t>(buffer.role)]);
    if (buffer.may_alias >= 0) text += " aliases " + kernel_.buffers[buffer.may_alias].name;
    return text;
  }

  void add_term(std::string& text, const Index::Term& term) const {
    const bool negative = term.coefficient < 0;
    if (!text.empty()) {
      text += negative ? " - " : " + ";
    } else if (negative) {
      text += "-";
    }
    const auto size = static_cast<uint64_t>(term.coefficient);
    if (std::abs(term.coefficient) != 1) text += std::to_string(negative ? 0 - size : size) + "*";
    text += kernel_.vars[term.var].name;
  }

  // The lane comes after the other variables.
  std::string index_text(const Index& index) const {
    std::string text;
    for (const Index::Term& term : index.terms) {
      if (term.var != kLaneVar) add_term(text, term);
    }
    if (const int64_t lanes = index.coefficient(kLaneVar)) add_term(text, {kLaneVar, lanes});
    if (text.empty()) return std::to_string(index.constant);
    if (index.constant < 0) return text + " - " + std::to_string(0 - static_cast<uint64_t>(index.constant));
    return index.constant == 0 ? text : text + " + " + std::to_string(index.constant);
  }

  std::string indices_text(const std::vector<Index>& indices) const {
    std::string text;
    for (const Index& index : indices) text += (text.empty() ? "" : ", ") + index_text(index);
    return text;
  }

  // --- statements ---

  void print(const std::vector<Stmt>& block) {
    for (const Stmt& stmt : block) print(stmt);
  }

  void print_nested(const std::vector<Stmt>& block) {
    indent_ += "  ";
    print(block);
    indent_.resize(indent_.size() - 2);
  }

  void print(const Stmt& stmt) {
    name_shared(stmt);
    switch (stmt.kind) {
      case StmtKind::kFor:
        return print_for(stmt);
      case StmtKind::kIf:
        line("if " + text(stmt.value) + " {");
        print_nested(stmt.body);
        if (!stmt.else_body.empty()) {
          line("} else {");
          print_nested(stmt.else_body);
        }
        return line("}");
      case StmtKind::kLet:
        return line(let_text(kernel_.vars[stmt.var], text(stmt.value)));
      case StmtKind::kSet:
        return line(
            fmt::format("{}[{}] = {}", kernel_.tiles[stmt.tile].name, indices_text(stmt.indices), text(stmt.value)));
      case StmtKind::kStore:
        return line(fmt::format("store {}[{}] = {}{}", kernel_.buffers[stmt.buffer].name, index_text(stmt.index),
                                text(stmt.value), stmt.mask ? " where " + text(stmt.mask) : ""));
      case StmtKind::kPrefetch:
        return line(fmt::format("prefetch {}[{}]", kernel_.buffers[stmt.buffer].name, index_text(stmt.index)));
      case StmtKind::kTranspose:
        return line(fmt::format("transpose {}", kernel_.tiles[stmt.tile].name));
    }
  }

  static std::string let_text(const Var& var, const std::string& value) {
    const Var unknown;
    std::string text = fmt::format("let {} = {}", var.name, value);
    if (var.low != unknown.low || var.high != unknown.high) text += fmt::format(" in {} .. {}", var.low, var.high);
    if (var.is_trusted) text += " trusted";
    if (var.multiple_of != unknown.multiple_of) text += fmt::format(" by {}", var.multiple_of);
    return text;
  }

  void print_for(const Stmt& stmt) {
    std::string upper = index_text(stmt.upper);
    for (const Index& also : stmt.upper_also) upper += ", " + index_text(also);
    if (!stmt.upper_also.empty()) upper = "min(" + upper + ")";
    const char* const how = stmt.apart ? " unroll apart" : stmt.unroll ? " unroll" : "";
    line(fmt::format("for {} in {} .. {}{}{} {{", kernel_.vars[stmt.var].name, index_text(stmt.lower), upper,
                     stmt.step == 1 ? "" : " by " + std::to_string(stmt.step), how));
    print_nested(stmt.body);
    line("}");
  }

  // --- values ---

  void count_uses(const Expr& expr) {
    if (!expr || ++uses_[expr.get()] > 1) return;
    for (const Expr& arg : expr->args) count_uses(arg);
  }

  void name_shared(const Stmt& stmt) {
    uses_.clear();
    names_.clear();
    count_uses(stmt.value);
    count_uses(stmt.mask);
    if (stmt.value) name_shared(stmt.value);
    if (stmt.mask) name_shared(stmt.mask);
  }

  // Operands first, so that each line uses only names above it.
  void name_shared(const Expr& expr) {
    if (names_.contains(expr.get()) || expr->args.empty()) return;
    for (const Expr& arg : expr->args) name_shared(arg);
    if (uses_[expr.get()] < 2) return;
    const std::string value = text(expr);
    line(fmt::format("%{} = {}", names_.size(), value));
    names_.emplace(expr.get(), fmt::format("%{}", names_.size()));
  }

  std::string text(const Expr& expr) const {
    if (const auto named = names_.find(expr.get()); named != names_.end()) return named->second;
    const ExprNode& e = *expr;
    switch (e.kind) {
      case ExprKind::kConstant:
        return constant_text(e.dtype, e.bits);
      case ExprKind::kIndex:
        return fmt::format("{}[{}]", to_string(e.dtype), index_text(e.index));
      case ExprKind::kVar:
        return kernel_.vars[e.var].name;
      case ExprKind::kTile:
        return fmt::format("{}[{}]", kernel_.tiles[e.tile].name, indices_text(e.indices));
      case ExprKind::kLoad:
        return fmt::format("{} {}[{}{}]", e.is_again ? "reload" : "load", kernel_.buffers[e.buffer].name,
                           index_text(e.index), e.args.empty() ? "" : " where " + text(e.args[0]));
      case ExprKind::kApply:
        return std::string(info(e.op).text) + arguments(e);
      case ExprKind::kConvert:
        return fmt::format("convert<{}>{}", to_string(e.dtype), arguments(e));
      case ExprKind::kBitcast:
        return fmt::format("bitcast<{}>{}", to_string(e.dtype), arguments(e));
      case ExprKind::kRound:
        return fmt::format("round<{}>{}", to_string(e.round_to), arguments(e));
      case ExprKind::kSplat:
        return "splat" + arguments(e);
      case ExprKind::kReduce:
        return fmt::format("reduce<{}>{}", info(e.op).text, arguments(e));
    }
    throw_bug("unknown kind of expression");
  }

  std::string arguments(const ExprNode& e) const {
    std::string list;
    for (const Expr& arg : e.args) list += (list.empty() ? "" : ", ") + text(arg);
    return "(" + list + ")";
  }

  const Kernel& kernel_;
  std::string text_;
  std::string indent_;
  std::map<const ExprNode*, int> uses_;  // in the current statement
  std::map<const ExprNode*, std::string> names_;
};

}  // namespace

std::string print(const Kernel& kernel) { return Printer(kernel).run(); }

std::string structural_key(const Kernel& kernel) {
  Kernel anonymous = kernel;
  anonymous.name = "k";
  const auto rename = [](auto& items, const char* prefix) {
    for (size_t k = 0; k < items.size(); ++k) items[k].name = prefix + std::to_string(k);
  };
  rename(anonymous.buffers, "b");
  rename(anonymous.tiles, "t");
  rename(anonymous.vars, "v");
  return print(anonymous);
}

}  // namespace ingot::loops
