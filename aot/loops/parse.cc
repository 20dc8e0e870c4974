// Reads what print writes.
#include "aot/loops/parse.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "aot/loops/scalar.h"

namespace ingot::loops {
namespace {

std::optional<ScalarOp> find_scalar_op(std::string_view text) {
  static const auto by_text = [] {
    std::map<std::string_view, ScalarOp> ops;
#define SCALAR_OP(enumerator, text, arity, accepts, kind) ops.emplace(text, ScalarOp::enumerator);
#include "aot/loops/scalar_ops.def"
    return ops;
  }();
  const auto found = by_text.find(text);
  return found == by_text.end() ? std::nullopt : std::optional(found->second);
}

class Parser {
 public:
  explicit Parser(Lexer& lexer) : lexer_(lexer) {}

  Kernel run() {
    lexer_.expect_word("kernel");
    kernel_.name = word("the kernel's name");
    lexer_.expect_word("lanes");
    Var& lane = kernel_.vars[kLaneVar];
    lane.lanes = static_cast<int>(lexer_.expect_integer("the number of lanes"));
    lane.high = lane.lanes - 1;
    lexer_.expect_word("tasks");
    kernel_.task_count = lexer_.expect_integer("the number of tasks");
    kernel_.vars[kTaskVar].high = std::max<int64_t>(kernel_.task_count - 1, 0);
    vars_ = {{"task", kTaskVar}, {"lane", kLaneVar}};
    parse_buffers();
    lexer_.expect('{');
    while (lexer_.accept_word("tile")) parse_tile();
    kernel_.body = parse_block();
    lay_out_scratch(kernel_);
    return std::move(kernel_);
  }

 private:
  std::string word(std::string_view what) { return std::string(lexer_.expect(TokenKind::kIdentifier, what).text); }

  template <typename Id>
  Id named(const std::map<std::string, Id, std::less<>>& names, std::string_view what) {
    const Token token = lexer_.expect(TokenKind::kIdentifier, what);
    const auto found = names.find(token.text);
    if (found == names.end()) lexer_.fail_at(token.text, "no " + std::string(what) + " has this name");
    return found->second;
  }

  DType dtype() {
    const Token token = lexer_.expect(TokenKind::kIdentifier, "a dtype");
    const auto found = dtype_from_name(token.text);
    if (!found) lexer_.fail_at(token.text, "no dtype has this name");
    return *found;
  }

  // --- tables ---

  void parse_buffers() {
    lexer_.expect('(');
    while (!lexer_.accept(')')) {
      if (!kernel_.buffers.empty()) lexer_.expect(',');
      Buffer buffer{.name = word("a buffer's name")};
      lexer_.expect(':');
      buffer.dtype = dtype();
      lexer_.expect('[');
      buffer.elements = lexer_.expect_integer("a number of elements");
      lexer_.expect(']');
      if (lexer_.accept_word("out"))
        buffer.role = BufferRole::kOutput;
      else if (lexer_.accept_word("scratch"))
        buffer.role = BufferRole::kScratch;
      if (lexer_.accept_word("aliases")) buffer.may_alias = named(buffers_, "buffer");
      buffers_.emplace(buffer.name, static_cast<BufferId>(kernel_.buffers.size()));
      kernel_.buffers.push_back(std::move(buffer));
    }
  }

  // "f32x8" is one word.
  void parse_tile() {
    Tile tile;
    tile.name = word("a tile's name");
    lexer_.expect(':');
    const Token type = lexer_.expect(TokenKind::kIdentifier, "a tile's type");
    const size_t x = type.text.find('x');
    const auto dtype = dtype_from_name(type.text.substr(0, x));
    if (!dtype) lexer_.fail_at(type.text, "no dtype has this name");
    tile.dtype = *dtype;
    tile.lanes = x == std::string_view::npos ? 1 : std::atoi(std::string(type.text.substr(x + 1)).c_str());
    lexer_.expect('[');
    while (!lexer_.accept(']')) {
      if (!tile.dims.empty()) lexer_.expect(',');
      tile.dims.push_back(lexer_.expect_integer("a dimension"));
    }
    tiles_.emplace(tile.name, static_cast<TileId>(kernel_.tiles.size()));
    kernel_.tiles.push_back(std::move(tile));
  }

  VarId define(Var var) {
    const auto id = static_cast<VarId>(kernel_.vars.size());
    vars_[var.name] = id;
    kernel_.vars.push_back(std::move(var));
    return id;
  }

  // --- statements ---

  // The statements up to and with the closing brace.
  std::vector<Stmt> parse_block() {
    std::vector<Stmt> block;
    while (!lexer_.accept('}')) {
      values_.clear();
      while (lexer_.at(TokenKind::kValue)) {
        const std::string name(lexer_.take().name());
        lexer_.expect('=');
        values_[name] = parse_expr();
      }
      block.push_back(parse_stmt());
    }
    return block;
  }

  Stmt parse_stmt() {
    Stmt stmt;
    if (lexer_.accept_word("for")) return parse_for();
    if (lexer_.accept_word("if")) {
      stmt.kind = StmtKind::kIf;
      stmt.value = parse_expr();
      lexer_.expect('{');
      stmt.body = parse_block();
      if (lexer_.accept_word("else")) {
        lexer_.expect('{');
        stmt.else_body = parse_block();
      }
      return stmt;
    }
    if (lexer_.accept_word("let")) return parse_let();
    if (lexer_.accept_word("store")) {
      stmt.kind = StmtKind::kStore;
      stmt.buffer = named(buffers_, "buffer");
      stmt.index = parse_bracketed_index();
      lexer_.expect('=');
      stmt.value = parse_expr();
      if (lexer_.accept_word("where")) stmt.mask = parse_expr();
      return stmt;
    }
    if (lexer_.accept_word("prefetch")) {
      stmt.kind = StmtKind::kPrefetch;
      stmt.buffer = named(buffers_, "buffer");
      stmt.index = parse_bracketed_index();
      return stmt;
    }
    if (lexer_.accept_word("transpose")) {
      stmt.kind = StmtKind::kTranspose;
      stmt.tile = named(tiles_, "tile");
      return stmt;
    }
    stmt.kind = StmtKind::kSet;
    stmt.tile = named(tiles_, "statement or tile");
    stmt.indices = parse_indices();
    lexer_.expect('=');
    stmt.value = parse_expr();
    return stmt;
  }

  void expect_range_dots() {
    lexer_.expect('.');
    lexer_.expect('.');
  }

  Stmt parse_for() {
    Stmt stmt;
    stmt.kind = StmtKind::kFor;
    const std::string name = word("a variable's name");
    lexer_.expect_word("in");
    stmt.lower = parse_index();
    expect_range_dots();
    if (lexer_.accept_word("min")) {
      lexer_.expect('(');
      stmt.upper = parse_index();
      while (lexer_.accept(',')) stmt.upper_also.push_back(parse_index());
      lexer_.expect(')');
    } else {
      stmt.upper = parse_index();
    }
    if (lexer_.accept_word("by")) stmt.step = lexer_.expect_integer("a step");
    if (stmt.step <= 0) lexer_.fail("a step must be positive");
    stmt.unroll = lexer_.accept_word("unroll");
    stmt.apart = stmt.unroll && lexer_.accept_word("apart");
    stmt.var = define({.name = name, .kind = VarKind::kLoop});
    set_loop_range(kernel_, stmt, kernel_.vars[stmt.var]);
    lexer_.expect('{');
    stmt.body = parse_block();
    return stmt;
  }

  Stmt parse_let() {
    Stmt stmt;
    stmt.kind = StmtKind::kLet;
    Var var{.name = word("a variable's name"), .kind = VarKind::kLet};
    lexer_.expect('=');
    stmt.value = parse_expr();
    var.dtype = stmt.value->dtype;
    var.lanes = stmt.value->lanes;
    if (lexer_.accept_word("in")) {
      var.low = lexer_.expect_integer("the least value");
      expect_range_dots();
      var.high = lexer_.expect_integer("the greatest value");
      var.is_trusted = lexer_.accept_word("trusted");
    }
    if (lexer_.accept_word("by")) var.multiple_of = lexer_.expect_integer("what divides every value");
    stmt.var = define(std::move(var));
    return stmt;
  }

  // --- indices ---

  Index parse_index() {
    Index sum;
    bool negative = lexer_.accept('-');
    for (;;) {
      sum = sum + parse_term() * (negative ? -1 : 1);
      if (lexer_.accept('+')) {
        negative = false;
      } else if (lexer_.accept('-')) {
        negative = true;
      } else {
        return sum;
      }
    }
  }

  Index parse_term() {
    if (!lexer_.at(TokenKind::kInteger)) return Index::variable(named(vars_, "variable"));
    const int64_t number = lexer_.expect_integer("an integer");
    return lexer_.accept('*') ? Index::variable(named(vars_, "variable"), number) : Index(number);
  }

  Index parse_bracketed_index() {
    lexer_.expect('[');
    Index index = parse_index();
    lexer_.expect(']');
    return index;
  }

  std::vector<Index> parse_indices() {
    lexer_.expect('[');
    std::vector<Index> indices;
    while (!lexer_.accept(']')) {
      if (!indices.empty()) lexer_.expect(',');
      indices.push_back(parse_index());
    }
    return indices;
  }

  // --- values ---

  Expr parse_expr() {
    if (lexer_.at(TokenKind::kValue)) {
      const Token token = lexer_.take();
      const auto found = values_.find(token.name());
      if (found == values_.end()) lexer_.fail_at(token.text, "this value is not given before the statement");
      return found->second;
    }
    const Token token = lexer_.expect(TokenKind::kIdentifier, "a value");
    const std::string_view name = token.text;
    ExprNode e;
    if ((name == "load" || name == "reload") && lexer_.at(TokenKind::kIdentifier)) {
      e.is_again = name == "reload";
      parse_load(e);
    } else if (lexer_.at('<')) {
      parse_typed(e, token);
    } else if (lexer_.at('(')) {
      parse_call(e, token);
    } else if (lexer_.at('[')) {
      parse_element(e, token);
    } else {
      const auto var = vars_.find(name);
      if (var == vars_.end()) lexer_.fail_at(name, "no variable has this name");
      e.kind = ExprKind::kVar;
      e.var = var->second;
      e.dtype = kernel_.vars[e.var].dtype;
      e.lanes = kernel_.vars[e.var].lanes;
    }
    return std::make_shared<const ExprNode>(std::move(e));
  }

  // load x[INDEX], reload x[INDEX] or load x[INDEX where MASK]
  void parse_load(ExprNode& e) {
    e.kind = ExprKind::kLoad;
    e.buffer = named(buffers_, "buffer");
    e.dtype = register_dtype(kernel_.buffers[e.buffer].dtype);
    lexer_.expect('[');
    e.index = parse_index();
    e.lanes = kernel_.has_lanes(e.index) ? kernel_.lanes() : 1;
    if (lexer_.accept_word("where")) {
      e.args.push_back(parse_expr());
      e.lanes = std::max(e.lanes, e.args[0]->lanes);
    }
    lexer_.expect(']');
  }

  // convert<D>(x), bitcast<D>(x), round<D>(x), reduce<OP>(x)
  void parse_typed(ExprNode& e, const Token& token) {
    lexer_.expect('<');
    if (token.text == "reduce") {
      e.op = scalar_op(lexer_.expect(TokenKind::kIdentifier, "an operation"));
    } else {
      e.round_to = dtype();
    }
    lexer_.expect('>');
    e.args = parse_args();
    if (e.args.size() != 1) lexer_.fail_at(token.text, "one operand expected");
    e.lanes = e.args[0]->lanes;
    e.dtype = e.args[0]->dtype;
    if (token.text == "convert" || token.text == "bitcast") {
      e.kind = token.text == "convert" ? ExprKind::kConvert : ExprKind::kBitcast;
      e.dtype = std::exchange(e.round_to, DType{});
    } else if (token.text == "round") {
      e.kind = ExprKind::kRound;
    } else if (token.text == "reduce") {
      e.kind = ExprKind::kReduce;
      e.lanes = 1;
    } else {
      lexer_.fail_at(token.text, "expected convert, bitcast, round or reduce before '<'");
    }
  }

  // f32(2.5), splat(x) or an operation
  void parse_call(ExprNode& e, const Token& token) {
    if (const auto constant = dtype_from_name(token.text)) {
      lexer_.expect('(');
      e.kind = ExprKind::kConstant;
      e.dtype = *constant;
      e.bits = parse_bits(*constant);
      lexer_.expect(')');
      return;
    }
    e.args = parse_args();
    if (e.args.empty()) lexer_.fail_at(token.text, "an operand is missing");
    e.dtype = e.args.back()->dtype;
    if (token.text == "splat") {
      e.kind = ExprKind::kSplat;
      e.lanes = kernel_.lanes();
      return;
    }
    e.kind = ExprKind::kApply;
    e.op = scalar_op(token);
    e.dtype = result_dtype(e.op, e.dtype);
    e.lanes = e.args.back()->lanes;
  }

  // i64[i + lane], or a tile's element
  void parse_element(ExprNode& e, const Token& token) {
    if (const auto tile = tiles_.find(token.text); tile != tiles_.end()) {
      e.kind = ExprKind::kTile;
      e.tile = tile->second;
      e.indices = parse_indices();
      e.dtype = kernel_.tiles[e.tile].dtype;
      e.lanes = kernel_.tiles[e.tile].lanes;
      return;
    }
    const auto dtype = dtype_from_name(token.text);
    if (!dtype) lexer_.fail_at(token.text, "no tile or dtype has this name");
    e.kind = ExprKind::kIndex;
    e.dtype = *dtype;
    e.index = parse_bracketed_index();
    e.lanes = kernel_.has_lanes(e.index) ? kernel_.lanes() : 1;
  }

  std::vector<Expr> parse_args() {
    std::vector<Expr> args;
    lexer_.expect('(');
    while (!lexer_.accept(')')) {
      if (!args.empty()) lexer_.expect(',');
      args.push_back(parse_expr());
    }
    return args;
  }

  // A number; a float may also be written as its bits in hexadecimal.
  Bits parse_bits(DType dtype) {
    const bool negative = lexer_.accept('-');
    const Token token = lexer_.take();
    const bool is_hexadecimal = token.text.starts_with("0x");
    if (is_float(dtype) && !is_hexadecimal) {
      if (!token.is(TokenKind::kInteger) && !token.is(TokenKind::kFloat))
        lexer_.fail_at(token.text, "expected a number");
      const double value = float_value(token.text);
      return bits_of_float(dtype, negative ? -value : value);
    }
    const auto value = token.is(TokenKind::kInteger) ? integer_value(token.text) : std::nullopt;
    if (!value) lexer_.fail_at(token.text, "expected an integer of at most 64 bits");
    return is_float(dtype) ? *value : bits_of_int(dtype, static_cast<int64_t>(negative ? 0 - *value : *value));
  }

  ScalarOp scalar_op(const Token& token) {
    const auto op = find_scalar_op(token.text);
    if (!op) lexer_.fail_at(token.text, "no operation has this name");
    return *op;
  }

  Lexer& lexer_;
  Kernel kernel_;
  std::map<std::string, BufferId, std::less<>> buffers_;
  std::map<std::string, TileId, std::less<>> tiles_;
  std::map<std::string, VarId, std::less<>> vars_;
  std::map<std::string, Expr, std::less<>> values_;  // the current statement's %0, %1, ...
};

}  // namespace

Kernel parse_kernel(Lexer& lexer) {
  Kernel kernel = Parser(lexer).run();
  verify(kernel);
  return kernel;
}

Kernel parse_kernel(std::string_view text) {
  const Source source(text, "kernel");
  Lexer lexer(source);
  Kernel kernel = Parser(lexer).run();
  lexer.expect(TokenKind::kEnd, "the end of the text");
  verify(kernel);
  return kernel;
}

}  // namespace ingot::loops
