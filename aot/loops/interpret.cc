#include "aot/loops/interpret.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "aot/base/error.h"
#include "aot/loops/scalar.h"

namespace ingot::loops {
namespace {

// What scratch and tiles hold before they are set: nothing that a kernel may depend on.
constexpr std::byte kUndefined{0xA5};
constexpr int64_t kUndefinedBits = 0x25A5A5A5A5A5A5A5;

// Where a value is kept: lane k at first + k * step, so that a single value (step 0) is the same in every lane.
struct Place {
  size_t first = 0;
  size_t step = 0;

  size_t lane(size_t k) const { return first + k * step; }
};

// An index, by the places of its variables.
struct Affine {
  struct Term {
    Place variable;
    DType dtype;
    int64_t coefficient;
  };
  int64_t constant = 0;
  std::vector<Term> shared;  // the same in every lane
  std::vector<Term> lanes;
};

// An element of a tile.
struct TileElement {
  TileId tile = -1;
  Affine index;
};

// What computes one expression, when its operands are there.
struct Operation {
  const ExprNode* node;
  std::array<Place, 3> args;
  Affine index;  // kIndex, kLoad
  TileElement element;
  Place result;
};

struct Statement {
  const Stmt* stmt = nullptr;
  std::vector<Operation> operations;  // of value and mask
  Place value, mask;
  Affine lower, index;
  std::vector<Affine> uppers;
  TileElement element;
  Place variable;
  std::vector<Statement> body, else_body;
};

using Block = std::vector<Statement>;

// Gives every variable, tile and expression its place, and puts expressions in the order in which they are computed.
class Resolver {
 public:
  explicit Resolver(const Kernel& kernel) : kernel_(kernel) {
    for (const Var& var : kernel.vars) vars_.push_back(allot(var.lanes));
    for (int lane = 0; lane < kernel.lanes(); ++lane) values_[vars_[kLaneVar].lane(lane)] = lane;
    for (const Tile& tile : kernel.tiles) {
      tiles_.push_back(values_.size());
      values_.resize(values_.size() + elements_of(tile) * tile.lanes);
    }
  }

  Block block(const std::vector<Stmt>& stmts) {
    Block block;
    for (const Stmt& stmt : stmts) block.push_back(statement(stmt));
    return block;
  }

  static int64_t elements_of(const Tile& tile) {
    int64_t count = 1;
    for (const int64_t dim : tile.dims) count *= dim;
    return count;
  }

  const std::vector<Place>& vars() const { return vars_; }
  const std::vector<size_t>& tiles() const { return tiles_; }
  const std::vector<Bits>& values() const { return values_; }

 private:
  Place allot(int lanes) {
    const Place place{values_.size(), lanes > 1 ? size_t{1} : 0};
    values_.resize(values_.size() + lanes);
    return place;
  }

  Statement statement(const Stmt& stmt) {
    Statement made;
    made.stmt = &stmt;
    known_.clear();
    operations_ = &made.operations;
    if (stmt.value) made.value = place_of(stmt.value);
    if (stmt.mask) made.mask = place_of(stmt.mask);
    if (stmt.var >= 0) made.variable = vars_[stmt.var];
    made.lower = affine(stmt.lower);
    made.uppers.push_back(affine(stmt.upper));
    for (const Index& also : stmt.upper_also) made.uppers.push_back(affine(also));
    made.index = affine(stmt.index);
    if (stmt.tile >= 0) made.element = tile_element(stmt.tile, stmt.indices);
    made.body = block(stmt.body);
    made.else_body = block(stmt.else_body);
    return made;
  }

  Affine affine(const Index& index) const {
    Affine made{.constant = index.constant, .shared = {}, .lanes = {}};
    for (const Index::Term& term : index.terms) {
      const Place variable = vars_[term.var];
      (variable.step == 0 ? made.shared : made.lanes)
          .push_back({variable, kernel_.vars[term.var].dtype, term.coefficient});
    }
    return made;
  }

  TileElement tile_element(TileId tile, const std::vector<Index>& indices) const {
    Index element;
    for (size_t d = 0; d < indices.size(); ++d) element = element * kernel_.tiles[tile].dims[d] + indices[d];
    return {tile, affine(element)};
  }

  // Shared nodes are computed once within a statement.
  Place place_of(const Expr& expr) {
    if (const auto known = known_.find(expr.get()); known != known_.end()) return known->second;
    return known_[expr.get()] = resolve(*expr);
  }

  Place resolve(const ExprNode& e) {
    Operation operation{.node = &e, .args = {}, .index = affine(e.index), .element = {}, .result = {}};
    for (size_t k = 0; k < e.args.size(); ++k) operation.args.at(k) = place_of(e.args[k]);
    switch (e.kind) {
      case ExprKind::kVar:
        return vars_[e.var];
      case ExprKind::kSplat:
        return {operation.args[0].first, 0};
      case ExprKind::kBitcast:
        return operation.args[0];
      case ExprKind::kConstant: {
        const Place place = allot(1);
        values_[place.first] = e.bits;
        return place;
      }
      case ExprKind::kReduce:
        operation.result = {allot(e.args[0]->lanes).first, 0};
        break;
      case ExprKind::kTile:
        operation.element = tile_element(e.tile, e.indices);
        [[fallthrough]];
      default:
        operation.result = allot(e.lanes);
    }
    const Place result = operation.result;
    operations_->push_back(std::move(operation));
    return result;
  }

  const Kernel& kernel_;
  std::vector<Place> vars_;
  std::vector<size_t> tiles_;
  std::vector<Bits> values_;  // as they are before a task: constants and the lane are set
  std::unordered_map<const ExprNode*, Place> known_;
  std::vector<Operation>* operations_ = nullptr;
};

}  // namespace

class Interpreter::Program {
 public:
  explicit Program(const Kernel& kernel) : kernel_(kernel) {
    Resolver resolver(kernel);
    body_ = resolver.block(kernel.body);
    values_ = resolver.values();
    vars_ = resolver.vars();
    tiles_ = resolver.tiles();
  }

  void run(std::span<std::byte* const> buffers, int64_t task, Writers* writers) {
    INGOT_CHECK(task >= 0 && task < kernel_.task_count);
    task_ = task;
    writers_ = writers;
    values_[vars_[kTaskVar].first] = static_cast<Bits>(task);
    for (size_t t = 0; t < tiles_.size(); ++t) {
      const Tile& tile = kernel_.tiles[t];
      std::fill_n(values_.begin() + static_cast<int64_t>(tiles_[t]), Resolver::elements_of(tile) * tile.lanes,
                  bits_of_int(tile.dtype, kUndefinedBits));
    }
    scratch_.assign(kernel_.scratch_bytes, kUndefined);
    bases_.clear();
    size_t operand = 0;
    for (const Buffer& buffer : kernel_.buffers) {
      const bool is_scratch = buffer.role == BufferRole::kScratch;
      INGOT_CHECK(is_scratch || operand < buffers.size());
      bases_.push_back(is_scratch ? scratch_.data() + buffer.scratch_offset_bytes : buffers[operand++]);
    }
    run(body_);
  }

 private:
  void run(const Block& block) {
    for (const Statement& statement : block) run(statement);
  }

  void run(const Statement& s) {
    for (const Operation& operation : s.operations) compute(operation);
    const Stmt& stmt = *s.stmt;
    switch (stmt.kind) {
      case StmtKind::kFor:
        return run_for(s);
      case StmtKind::kIf:
        return run(values_[s.value.first] != 0 ? s.body : s.else_body);
      case StmtKind::kLet:
        return copy(s.value, stmt.value->lanes, s.variable);
      case StmtKind::kSet:
        return copy(s.value, stmt.value->lanes, place_of(s.element));
      case StmtKind::kStore:
        return run_store(s);
      case StmtKind::kPrefetch:
        return;
      case StmtKind::kTranspose:
        return transpose(stmt.tile);
    }
  }

  void copy(const Place& from, int lanes, const Place& to) {
    for (int lane = 0; lane < lanes; ++lane) values_[to.lane(lane)] = values_[from.lane(lane)];
  }

  void transpose(TileId id) {
    const size_t lanes = kernel_.tiles[id].lanes;
    const auto at = [&](size_t i, size_t j) -> Bits& { return values_[tiles_[id] + i * lanes + j]; };
    for (size_t i = 0; i < lanes; ++i) {
      for (size_t j = 0; j < i; ++j) std::swap(at(i, j), at(j, i));
    }
  }

  void run_for(const Statement& s) {
    int64_t upper = std::numeric_limits<int64_t>::max();
    for (const Affine& also : s.uppers) upper = std::min(upper, at(also));
    for (int64_t i = at(s.lower); i < upper; i += s.stmt->step) {
      values_[s.variable.first] = static_cast<Bits>(i);
      run(s.body);
    }
  }

  void run_store(const Statement& s) {
    const BufferId buffer = s.stmt->buffer;
    const int64_t base = at(s.index);
    for (int lane = 0; lane < s.stmt->value->lanes; ++lane) {
      if (s.stmt->mask && values_[s.mask.lane(lane)] == 0) continue;
      const int64_t element = sum(base, s.index.lanes, lane);
      if (writers_ && !writers_->note(buffer, element, task_)) {
        throw_bug("loops kernel '" + kernel_.name + "': two tasks write element " + std::to_string(element) + " of " +
                  kernel_.buffers[buffer].name);
      }
      store_scalar(kernel_.buffers[buffer].dtype, values_[s.value.lane(lane)], address(buffer, element));
    }
  }

  // Wraps, as machine code does.
  int64_t sum(int64_t from, const std::vector<Affine::Term>& terms, size_t lane) const {
    auto sum = static_cast<uint64_t>(from);
    for (const Affine::Term& term : terms) {
      const int64_t held = int_of_bits(term.dtype, values_[term.variable.lane(lane)]);
      sum += static_cast<uint64_t>(term.coefficient) * static_cast<uint64_t>(held);
    }
    return static_cast<int64_t>(sum);
  }

  // But for what differs between lanes.
  int64_t at(const Affine& index) const { return sum(index.constant, index.shared, 0); }

  std::byte* address(BufferId id, int64_t element) const {
    const Buffer& buffer = kernel_.buffers[id];
    if (element < 0 || element >= buffer.elements) {
      throw_bug("loops kernel '" + kernel_.name + "' reaches element " + std::to_string(element) + " of " +
                buffer.name + ", which has " + std::to_string(buffer.elements));
    }
    return bases_[id] + element * ingot::info(buffer.dtype).bytes;
  }

  Place place_of(const TileElement& element) const {
    const Tile& tile = kernel_.tiles[element.tile];
    const int64_t index = at(element.index);
    INGOT_CHECK(index >= 0 && index < Resolver::elements_of(tile));
    return {tiles_[element.tile] + index * tile.lanes, tile.lanes > 1 ? size_t{1} : 0};
  }

  void compute(const Operation& operation) {
    const ExprNode& e = *operation.node;
    switch (e.kind) {
      case ExprKind::kIndex:
        return compute_index(operation);
      case ExprKind::kTile:
        return copy(place_of(operation.element), e.lanes, operation.result);
      case ExprKind::kLoad:
        return compute_load(operation);
      case ExprKind::kApply:
        return compute_apply(operation);
      case ExprKind::kReduce:
        return compute_reduce(operation);
      case ExprKind::kConvert:
      case ExprKind::kRound:
        return compute_convert(operation);
      default:
        throw_bug("loops kernel '" + kernel_.name + "': an expression of another kind is no operation");
    }
  }

  void compute_index(const Operation& operation) {
    const ExprNode& e = *operation.node;
    const int64_t base = at(operation.index);
    for (int lane = 0; lane < e.lanes; ++lane) {
      const int64_t value = sum(base, operation.index.lanes, lane);
      values_[operation.result.lane(lane)] = convert_scalar(DType::kI64, e.dtype, static_cast<Bits>(value));
    }
  }

  void compute_load(const Operation& operation) {
    const ExprNode& e = *operation.node;
    const int64_t base = at(operation.index);
    for (int lane = 0; lane < e.lanes; ++lane) {
      const bool is_read = e.args.empty() || values_[operation.args[0].lane(lane)] != 0;
      const std::byte* from = is_read ? address(e.buffer, sum(base, operation.index.lanes, lane)) : nullptr;
      values_[operation.result.lane(lane)] = is_read ? load_scalar(kernel_.buffers[e.buffer].dtype, from) : 0;
    }
  }

  void compute_apply(const Operation& operation) {
    const ExprNode& e = *operation.node;
    Bits operands[3] = {};
    for (int lane = 0; lane < e.lanes; ++lane) {
      for (size_t k = 0; k < e.args.size(); ++k) operands[k] = values_[operation.args[k].lane(lane)];
      values_[operation.result.lane(lane)] =
          apply_scalar(e.op, e.args.back()->dtype, std::span(operands, e.args.size()));
    }
  }

  void compute_convert(const Operation& operation) {
    const ExprNode& e = *operation.node;
    const DType from = e.args[0]->dtype;
    for (int lane = 0; lane < e.lanes; ++lane) {
      const Bits bits = values_[operation.args[0].lane(lane)];
      values_[operation.result.lane(lane)] =
          e.kind == ExprKind::kConvert ? convert_scalar(from, e.dtype, bits) : round_scalar(from, e.round_to, bits);
    }
  }

  void compute_reduce(const Operation& operation) {
    const ExprNode& e = *operation.node;
    const int lanes = e.args[0]->lanes;
    Bits* value = &values_[operation.result.first];
    for (int lane = 0; lane < lanes; ++lane) value[lane] = values_[operation.args[0].lane(lane)];
    for (int half = lanes / 2; half > 0; half /= 2) {
      for (int lane = 0; lane < half; ++lane) {
        const Bits pair[2] = {value[lane], value[lane + half]};
        value[lane] = apply_scalar(e.op, e.dtype, pair);
      }
    }
  }

  const Kernel& kernel_;
  Block body_;
  std::vector<Place> vars_;
  std::vector<size_t> tiles_;  // where each begins
  std::vector<Bits> values_;
  std::vector<std::byte> scratch_;
  std::vector<std::byte*> bases_;
  Writers* writers_ = nullptr;
  int64_t task_ = 0;
};

Writers::Writers(const Kernel& kernel) {
  for (const Buffer& buffer : kernel.buffers)
    tasks_.emplace_back(buffer.role == BufferRole::kOutput ? buffer.elements : 0, -1);
}

bool Writers::note(BufferId buffer, int64_t element, int64_t task) {
  std::vector<int64_t>& tasks = tasks_[buffer];
  if (element < 0 || element >= static_cast<int64_t>(tasks.size())) return true;
  const int64_t before = std::exchange(tasks[element], task);
  return before == -1 || before == task;
}

Interpreter::Interpreter(const Kernel& kernel) : program_(std::make_unique<Program>(kernel)) {}
Interpreter::~Interpreter() = default;

void Interpreter::run(std::span<std::byte* const> buffers, int64_t task, Writers* writers) {
  program_->run(buffers, task, writers);
}

void interpret_all(const Kernel& kernel, std::span<std::byte* const> buffers) {
  Interpreter interpreter(kernel);
  for (int64_t task = 0; task < kernel.task_count; ++task) interpreter.run(buffers, task);
}

}  // namespace ingot::loops
