// What every kernel must be, whoever built it.
#include <algorithm>
#include <set>
#include <string>

#include "aot/base/error.h"
#include "aot/loops/facts.h"
#include "aot/loops/interval.h"
#include "aot/loops/loop.h"

namespace ingot::loops {
namespace {

constexpr int64_t kMaxUnrolledTrips = 1024;

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : kernel_(kernel), facts_(kernel) {}

  Unproved run() {
    check_tables();
    defined_ = {kTaskVar, kLaneVar};
    check_block(kernel_.body);
    return {trusted_count_, facts_.are_exhausted()};
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw_bug("loops kernel '" + kernel_.name + "': " + (place_.empty() ? "" : place_ + ": ") + what);
  }
  void require(bool condition, const std::string& what) const {
    if (!condition) fail(what);
  }

  void check_tables() {
    const auto& vars = kernel_.vars;
    require(vars.size() >= 2 && vars[kTaskVar].kind == VarKind::kTask && vars[kLaneVar].kind == VarKind::kLane,
            "the first two variables must be the task and the lane");
    require(kernel_.task_count >= 0 && kernel_.task_count <= std::numeric_limits<uint32_t>::max(), "bad task count");
    require(kernel_.lanes() >= 1 && (kernel_.lanes() & (kernel_.lanes() - 1)) == 0, "lanes must be a power of two");
    std::set<std::string> names;
    const auto check_name = [&](const std::string& name) {
      require(!name.empty() && names.insert(name).second, "the name '" + name + "' is empty or taken twice");
    };
    for (const Var& var : vars) check_name(var.name);
    for (const Var& var : vars) require(var.lanes == 1 || var.lanes == kernel_.lanes(), "bad lanes of " + var.name);
    for (const Tile& tile : kernel_.tiles) {
      check_name(tile.name);
      require(tile.lanes == 1 || tile.lanes == kernel_.lanes(), "bad lanes of tile " + tile.name);
      require(register_dtype(tile.dtype) == tile.dtype,
              "tile " + tile.name + " has a dtype that lives in buffers only");
      for (const int64_t dim : tile.dims) require(dim > 0, "tile " + tile.name + " is empty");
    }
    int rank = 0;
    for (size_t k = 0; k < kernel_.buffers.size(); ++k) check_buffer(static_cast<BufferId>(k), rank);
    for (const Buffer& buffer : kernel_.buffers) check_name(buffer.name);
  }

  // Inputs, then outputs, then scratch.
  void check_buffer(BufferId id, int& rank) const {
    const Buffer& buffer = kernel_.buffers[id];
    const int own = static_cast<int>(buffer.role);
    require(own >= rank, "buffer " + buffer.name + " is out of order: inputs, then outputs, then scratch");
    rank = own;
    require(buffer.elements >= 0, "buffer " + buffer.name + " has a negative size");
    if (buffer.may_alias >= 0) {
      const bool is_pair = buffer.role == BufferRole::kOutput && buffer.may_alias < id &&
                           kernel_.buffers[buffer.may_alias].role == BufferRole::kInput;
      require(is_pair, "buffer " + buffer.name + " may alias an input only, and only as an output");
    }
    if (buffer.role != BufferRole::kScratch) return;
    const int64_t bytes = buffer.elements * ingot::info(buffer.dtype).bytes;
    require(buffer.scratch_offset_bytes >= 0 && buffer.scratch_offset_bytes % 64 == 0 &&
                buffer.scratch_offset_bytes + bytes <= kernel_.scratch_bytes,
            "scratch buffer " + buffer.name + " leaves the scratch");
  }

  void check_branch(const std::vector<Stmt>& block, const Expr& condition, bool holds) {
    const Facts::Scope scope(facts_);
    facts_.assume(condition, holds);
    check_block(block);
  }

  void check_block(const std::vector<Stmt>& block) {
    const Facts::Scope scope(facts_);
    std::vector<VarId> introduced;
    for (const Stmt& stmt : block) check(stmt, introduced);
    for (const VarId var : introduced) defined_.erase(var);
  }

  void define(VarId var, VarKind kind) {
    require(var > kLaneVar && var < static_cast<VarId>(kernel_.vars.size()), "no such variable");
    require(kernel_.vars[var].kind == kind, "variable " + kernel_.vars[var].name + " is of another kind");
    require(defined_.insert(var).second, "variable " + kernel_.vars[var].name + " is defined twice");
  }

  void check(const Stmt& stmt, std::vector<VarId>& introduced) {
    seen_.clear();
    switch (stmt.kind) {
      case StmtKind::kFor:
        return check_for(stmt);
      case StmtKind::kIf:
        place_ = "if";
        check(stmt.value);
        require(stmt.value->dtype == DType::kI1 && stmt.value->lanes == 1, "a condition is one i1");
        check_branch(stmt.body, stmt.value, true);
        return check_branch(stmt.else_body, stmt.value, false);
      case StmtKind::kLet: {
        place_ = "let " + kernel_.vars.at(stmt.var).name;
        check(stmt.value);
        define(stmt.var, VarKind::kLet);
        introduced.push_back(stmt.var);
        check_range(stmt);
        facts_.assume_value(stmt.var, stmt.value);
        const Var& var = kernel_.vars[stmt.var];
        return require(var.dtype == stmt.value->dtype && var.lanes == stmt.value->lanes,
                       "type differs from its value's");
      }
      case StmtKind::kSet: {
        place_ = "set";
        check(stmt.value);
        const Tile& tile = check_tile(stmt.tile, stmt.indices);
        return require(tile.dtype == stmt.value->dtype && tile.lanes == stmt.value->lanes,
                       "tile " + tile.name + " differs in type from the value set");
      }
      case StmtKind::kStore:
        return check_store(stmt);
      case StmtKind::kPrefetch:
        place_ = "prefetch";
        require(stmt.buffer >= 0 && stmt.buffer < static_cast<BufferId>(kernel_.buffers.size()), "no such buffer");
        check(stmt.index);
        return require(!kernel_.has_lanes(stmt.index), "a prefetch has one address");
      case StmtKind::kTranspose: {
        place_ = "transpose";
        require(stmt.tile >= 0 && stmt.tile < static_cast<TileId>(kernel_.tiles.size()), "no such tile");
        const Tile& tile = kernel_.tiles[stmt.tile];
        return require(tile.dims == std::vector<int64_t>{tile.lanes}, "tile " + tile.name + " is not square");
      }
    }
  }

  // By intervals, else by what is known where it stands.
  void check_range(const Stmt& let) {
    const Var& var = kernel_.vars[let.var];
    const Var unknown;
    if (var.low == unknown.low && var.high == unknown.high) return;
    require(is_integer(var.dtype), "only integers have ranges");
    if (var.is_trusted) {
      ++trusted_count_;
      return;
    }
    const Interval declared{var.low, var.high}, found = interval_of(kernel_, let.value);
    require(found.is_within(declared) || kernel_.task_count == 0 || facts_.imply_within(let.value, declared) ||
                facts_.are_exhausted(),
            "its value may be " + std::to_string(found.low) + " to " + std::to_string(found.high) +
                ", and is declared in " + std::to_string(var.low) + " .. " + std::to_string(var.high));
  }

  void check_for(const Stmt& stmt) {
    place_ = "for " + kernel_.vars.at(stmt.var).name;
    const auto check_bound = [&](const Index& bound) {
      check(bound);
      require(!kernel_.has_lanes(bound), "a loop bound has one lane");
    };
    check_bound(stmt.lower);
    check_bound(stmt.upper);
    for (const Index& also : stmt.upper_also) check_bound(also);
    require(stmt.step > 0, "the step must be positive");
    if (stmt.unroll) {
      require(stmt.lower.is_constant() && stmt.upper.is_constant() && stmt.upper_also.empty(),
              "an unrolled loop has constant bounds");
      require((stmt.upper.constant - stmt.lower.constant) / stmt.step <= kMaxUnrolledTrips, "too long to unroll");
      unrolled_.insert(stmt.var);
    }
    define(stmt.var, VarKind::kLoop);
    const Var& var = kernel_.vars[stmt.var];
    require(var.dtype == DType::kI64 && var.lanes == 1, "a loop variable is one i64");
    Var wanted = var;
    set_loop_range(kernel_, stmt, wanted);
    require(var.low <= wanted.low && var.high >= wanted.high, "the variable leaves its range");
    require(var.multiple_of > 0 && wanted.multiple_of % var.multiple_of == 0, "the variable has other multiples");
    const Facts::Scope scope(facts_);
    facts_.assume_bounds(stmt);
    check_block(stmt.body);
    defined_.erase(stmt.var);
    unrolled_.erase(stmt.var);
  }

  void check_store(const Stmt& stmt) {
    place_ = "store";
    check(stmt.value);
    if (stmt.mask) check(stmt.mask);
    check_access(stmt.buffer, stmt.index, stmt.mask);
    const Buffer& buffer = kernel_.buffers[stmt.buffer];
    require(buffer.role != BufferRole::kInput, "buffer " + buffer.name + " is an input");
    require(stmt.value->dtype == register_dtype(buffer.dtype), "buffer " + buffer.name + " has another dtype");
    const int lanes = kernel_.has_lanes(stmt.index) ? kernel_.lanes() : 1;
    require(stmt.value->lanes == lanes, "the value's lanes differ from the index's");
    if (stmt.mask) require(stmt.mask->dtype == DType::kI1 && stmt.mask->lanes == lanes, "a mask is i1 in every lane");
  }

  // In the lanes that `mask` (may be null) lets through, whatever the task and the iteration. Where the search for proofs
  // is exhausted, what guards an access is trusted unless the access is always outside.
  void check_access(BufferId id, const Index& index, const Expr& mask) {
    require(id >= 0 && id < static_cast<BufferId>(kernel_.buffers.size()), "no such buffer");
    check(index);
    const Buffer& buffer = kernel_.buffers[id];
    place_ += " " + buffer.name;
    if (kernel_.task_count == 0) return;
    const Facts::Scope scope(facts_);
    if (mask) facts_.assume(mask, true);
    const bool stays_inside = facts_.imply(index) && facts_.imply(Index(buffer.elements - 1) - index);
    const bool is_outside = kernel_.high(index) < 0 || kernel_.low(index) >= buffer.elements;
    require(stays_inside || (facts_.are_exhausted() && !is_outside),
            "elements " + std::to_string(kernel_.low(index)) + " to " + std::to_string(kernel_.high(index)) +
                " leave the buffer's " + std::to_string(buffer.elements) +
                (mask ? ", and its mask does not forbid it" : ""));
  }

  const Tile& check_tile(TileId id, const std::vector<Index>& indices) {
    require(id >= 0 && id < static_cast<TileId>(kernel_.tiles.size()), "no such tile");
    const Tile& tile = kernel_.tiles[id];
    require(indices.size() == tile.dims.size(), "tile " + tile.name + " has another rank");
    for (size_t d = 0; d < indices.size(); ++d) {
      check(indices[d]);
      for (const Index::Term& term : indices[d].terms) {
        require(unrolled_.contains(term.var), "tile " + tile.name + " is indexed by " + kernel_.vars[term.var].name +
                                                  ", which is not constant once loops are unrolled");
      }
      require(kernel_.low(indices[d]) >= 0 && kernel_.high(indices[d]) < tile.dims[d],
              "an index leaves tile " + tile.name);
    }
    return tile;
  }

  void check(const Index& index) {
    for (size_t k = 0; k < index.terms.size(); ++k) {
      const Index::Term& term = index.terms[k];
      require(term.var >= 0 && term.var < static_cast<VarId>(kernel_.vars.size()), "no such variable");
      const Var& var = kernel_.vars[term.var];
      require(defined_.contains(term.var), "variable " + var.name + " is used outside its block");
      require(is_integer(var.dtype), "variable " + var.name + " is no integer");
      require(term.coefficient != 0 && (k == 0 || index.terms[k - 1].var < term.var), "terms are not in normal form");
    }
  }

  void check(const Expr& expr) {
    require(expr != nullptr, "a value is missing");
    if (!seen_.insert(expr.get()).second) return;
    for (const Expr& arg : expr->args) check(arg);
    const ExprNode& e = *expr;
    require(register_dtype(e.dtype) == e.dtype, "a value has a dtype that lives in buffers only");
    require(e.lanes == 1 || e.lanes == kernel_.lanes(), "a value has neither one lane nor the kernel's");
    switch (e.kind) {
      case ExprKind::kConstant:
        return require(e.lanes == 1, "a constant has one lane");
      case ExprKind::kIndex:
        check(e.index);
        return require(e.lanes == (kernel_.has_lanes(e.index) ? kernel_.lanes() : 1), "an index has other lanes");
      case ExprKind::kVar: {
        require(defined_.contains(e.var), "a variable is used outside its block");
        const Var& var = kernel_.vars[e.var];
        return require(var.dtype == e.dtype && var.lanes == e.lanes, "variable " + var.name + " has another type");
      }
      case ExprKind::kTile: {
        const Tile& tile = check_tile(e.tile, e.indices);
        return require(tile.dtype == e.dtype && tile.lanes == e.lanes, "tile " + tile.name + " has another type");
      }
      case ExprKind::kLoad:
        return check_load(e);
      case ExprKind::kApply:
        return check_apply(e);
      default:
        return check_unary(e);
    }
  }

  void check_load(const ExprNode& e) {
    check_access(e.buffer, e.index, e.args.empty() ? nullptr : e.args[0]);
    const Buffer& buffer = kernel_.buffers[e.buffer];
    require(e.dtype == register_dtype(buffer.dtype), "a load differs from its buffer's dtype");
    const bool is_vector = kernel_.has_lanes(e.index) || (!e.args.empty() && e.args[0]->lanes > 1);
    require(e.lanes == (is_vector ? kernel_.lanes() : 1), "a load's lanes differ from its index's");
    require(!e.is_again || (e.args.empty() && kernel_.is_contiguous(e.index)), "only whole vectors are loaded again");
    if (e.args.empty()) return;
    require(e.args.size() == 1 && e.args[0]->dtype == DType::kI1 && e.args[0]->lanes == e.lanes,
            "a mask is i1 in every lane");
  }

  void check_apply(const ExprNode& e) {
    const ScalarOpInfo& op = info(e.op);
    const std::string name(op.text);
    require(static_cast<int>(e.args.size()) == op.arity, name + ": wrong number of operands");
    const DType dtype = e.args.back()->dtype;
    require(accepts(e.op, dtype), name + ": does not take " + to_string(dtype));
    require(e.dtype == result_dtype(e.op, dtype), name + ": wrong result dtype");
    for (size_t k = 0; k < e.args.size(); ++k) {
      require(e.args[k]->dtype == operand_dtype(e.op, static_cast<int>(k), dtype), name + ": operands differ in dtype");
      require(e.args[k]->lanes == e.lanes, name + ": operands differ in lanes");
    }
  }

  void check_unary(const ExprNode& e) {
    require(e.args.size() == 1, "one operand expected");
    const ExprNode& arg = *e.args[0];
    switch (e.kind) {
      case ExprKind::kConvert:
        return require(e.lanes == arg.lanes, "convert changes lanes");
      case ExprKind::kBitcast:
        return require(e.lanes == arg.lanes && ingot::info(e.dtype).bits == ingot::info(arg.dtype).bits,
                       "bitcast changes lanes or width");
      case ExprKind::kRound:
        return require(e.lanes == arg.lanes && e.dtype == arg.dtype && is_float(e.dtype) && is_float(e.round_to),
                       "round takes floats and keeps the type");
      case ExprKind::kSplat:
        return require(arg.lanes == 1 && e.lanes == kernel_.lanes() && e.dtype == arg.dtype, "bad splat");
      default:
        return require(
            e.lanes == 1 && e.dtype == arg.dtype && info(e.op).arity == 2 && result_dtype(e.op, e.dtype) == e.dtype,
            "bad reduce");
    }
  }

  const Kernel& kernel_;
  std::set<VarId> defined_;
  std::set<VarId> unrolled_;
  Facts facts_;
  std::set<const ExprNode*> seen_;  // in this statement
  std::string place_;
  int trusted_count_ = 0;
};

}  // namespace

Unproved verify(const Kernel& kernel) { return Verifier(kernel).run(); }

}  // namespace ingot::loops
