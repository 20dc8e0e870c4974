#include "aot/loops/interpret.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "aot/base/error.h"
#include "aot/loops/scalar.h"

namespace ingot::loops {
namespace {

using Value = std::vector<Bits>;  // one for each lane

// What scratch and tiles hold before they are set: nothing that a kernel may depend on.
constexpr std::byte kUndefined{0xA5};
constexpr int64_t kUndefinedBits = 0x25A5A5A5A5A5A5A5;

class Interpreter {
 public:
  Interpreter(const Kernel& kernel, std::span<std::byte* const> buffers, int64_t task, Writers* writers)
      : kernel_(kernel),
        task_(task),
        writers_(writers),
        vars_(kernel.vars.size()),
        scratch_(kernel.scratch_bytes, kUndefined) {
    size_t operand = 0;
    for (const Buffer& buffer : kernel.buffers) {
      const bool is_scratch = buffer.role == BufferRole::kScratch;
      INGOT_CHECK(is_scratch || operand < buffers.size());
      bases_.push_back(is_scratch ? scratch_.data() + buffer.scratch_offset_bytes : buffers[operand++]);
    }
    for (const Tile& tile : kernel.tiles) {
      int64_t count = 1;
      for (const int64_t dim : tile.dims) count *= dim;
      tiles_.emplace_back(count, Value(tile.lanes, bits_of_int(tile.dtype, kUndefinedBits)));
    }
    vars_[kTaskVar] = {static_cast<Bits>(task)};
    for (int lane = 0; lane < kernel.lanes(); ++lane) vars_[kLaneVar].push_back(lane);
  }

  void run() { run(kernel_.body); }

 private:
  void run(const std::vector<Stmt>& block) {
    for (const Stmt& stmt : block) run(stmt);
  }

  void run(const Stmt& stmt) {
    shared_.clear();
    switch (stmt.kind) {
      case StmtKind::kFor:
        return run_for(stmt);
      case StmtKind::kIf:
        return run(evaluate(stmt.value)[0] != 0 ? stmt.body : stmt.else_body);
      case StmtKind::kLet:
        vars_[stmt.var] = evaluate(stmt.value);
        return;
      case StmtKind::kSet:
        tile(stmt.tile, stmt.indices) = evaluate(stmt.value);
        return;
      case StmtKind::kStore:
        return run_store(stmt);
      case StmtKind::kPrefetch:
        return;
      case StmtKind::kTranspose:
        return transpose(tiles_[stmt.tile]);
    }
  }

  static void transpose(std::vector<Value>& tile) {
    for (size_t i = 0; i < tile.size(); ++i) {
      for (size_t j = 0; j < i; ++j) std::swap(tile[i][j], tile[j][i]);
    }
  }

  void run_for(const Stmt& stmt) {
    int64_t upper = at(stmt.upper, 0);
    for (const Index& also : stmt.upper_also) upper = std::min(upper, at(also, 0));
    for (int64_t i = at(stmt.lower, 0); i < upper; i += stmt.step) {
      vars_[stmt.var] = {static_cast<Bits>(i)};
      run(stmt.body);
    }
  }

  void run_store(const Stmt& stmt) {
    const Value value = evaluate(stmt.value);
    const Value mask = stmt.mask ? evaluate(stmt.mask) : Value(value.size(), 1);
    for (size_t lane = 0; lane < value.size(); ++lane) {
      if (mask[lane] == 0) continue;
      if (writers_ && !writers_->note(stmt.buffer, at(stmt.index, lane), task_)) {
        throw_bug("loops kernel '" + kernel_.name + "': two tasks write element " +
                  std::to_string(at(stmt.index, lane)) + " of " + kernel_.buffers[stmt.buffer].name);
      }
      store_scalar(kernel_.buffers[stmt.buffer].dtype, value[lane], address(stmt.buffer, stmt.index, lane));
    }
  }

  // Wraps, as machine code does.
  int64_t at(const Index& index, size_t lane) const {
    auto sum = static_cast<uint64_t>(index.constant);
    for (const Index::Term& term : index.terms) {
      const Value& value = vars_[term.var];
      const Bits bits = value[value.size() > 1 ? lane : 0];
      const int64_t held = int_of_bits(kernel_.vars[term.var].dtype, bits);
      sum += static_cast<uint64_t>(term.coefficient) * static_cast<uint64_t>(held);
    }
    return static_cast<int64_t>(sum);
  }

  std::byte* address(BufferId id, const Index& index, size_t lane) const {
    const Buffer& buffer = kernel_.buffers[id];
    const int64_t element = at(index, lane);
    if (element < 0 || element >= buffer.elements) {
      throw_bug("loops kernel '" + kernel_.name + "' reaches element " + std::to_string(element) + " of " +
                buffer.name + ", which has " + std::to_string(buffer.elements));
    }
    return bases_[id] + element * ingot::info(buffer.dtype).bytes;
  }

  Value& tile(TileId id, const std::vector<Index>& indices) {
    int64_t element = 0;
    for (size_t d = 0; d < indices.size(); ++d) element = element * kernel_.tiles[id].dims[d] + at(indices[d], 0);
    return tiles_[id].at(element);
  }

  // Shared nodes are computed once within a statement.
  Value evaluate(const Expr& expr) {
    if (expr.use_count() == 1 || expr->args.empty()) return compute(*expr);
    if (const auto known = shared_.find(expr.get()); known != shared_.end()) return known->second;
    return shared_[expr.get()] = compute(*expr);
  }

  Value compute(const ExprNode& e) {
    switch (e.kind) {
      case ExprKind::kConstant:
        return {e.bits};
      case ExprKind::kIndex: {
        Value value(e.lanes);
        for (int lane = 0; lane < e.lanes; ++lane) {
          value[lane] = convert_scalar(DType::kI64, e.dtype, static_cast<Bits>(at(e.index, lane)));
        }
        return value;
      }
      case ExprKind::kVar:
        return vars_[e.var];
      case ExprKind::kTile:
        return tile(e.tile, e.indices);
      case ExprKind::kLoad:
        return compute_load(e);
      case ExprKind::kApply:
        return compute_apply(e);
      case ExprKind::kSplat:
        return Value(e.lanes, evaluate(e.args[0])[0]);
      case ExprKind::kReduce:
        return compute_reduce(e);
      case ExprKind::kConvert:
      case ExprKind::kBitcast:
      case ExprKind::kRound:
        break;
    }
    const DType from = e.args[0]->dtype;
    Value value = evaluate(e.args[0]);
    for (Bits& bits : value) {
      if (e.kind == ExprKind::kConvert) bits = convert_scalar(from, e.dtype, bits);
      if (e.kind == ExprKind::kRound) bits = round_scalar(from, e.round_to, bits);
    }
    return value;
  }

  Value compute_load(const ExprNode& e) {
    const Value mask = e.args.empty() ? Value(e.lanes, 1) : evaluate(e.args[0]);
    Value value(e.lanes, 0);
    for (int lane = 0; lane < e.lanes; ++lane) {
      if (mask[lane] != 0) value[lane] = load_scalar(kernel_.buffers[e.buffer].dtype, address(e.buffer, e.index, lane));
    }
    return value;
  }

  Value compute_apply(const ExprNode& e) {
    std::vector<Value> args;
    for (const Expr& arg : e.args) args.push_back(evaluate(arg));
    Value value(e.lanes);
    Bits operands[3] = {};
    for (int lane = 0; lane < e.lanes; ++lane) {
      for (size_t k = 0; k < args.size(); ++k) operands[k] = args[k][lane];
      value[lane] = apply_scalar(e.op, e.args.back()->dtype, std::span(operands, args.size()));
    }
    return value;
  }

  Value compute_reduce(const ExprNode& e) {
    Value value = evaluate(e.args[0]);
    for (size_t half = value.size() / 2; half > 0; half /= 2) {
      for (size_t lane = 0; lane < half; ++lane) {
        const Bits pair[2] = {value[lane], value[lane + half]};
        value[lane] = apply_scalar(e.op, e.dtype, pair);
      }
    }
    return {value[0]};
  }

  const Kernel& kernel_;
  const int64_t task_;
  Writers* writers_;
  std::vector<Value> vars_;
  std::vector<std::byte> scratch_;
  std::vector<std::byte*> bases_;
  std::vector<std::vector<Value>> tiles_;
  std::unordered_map<const ExprNode*, Value> shared_;
};

}  // namespace

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

void interpret(const Kernel& kernel, std::span<std::byte* const> buffers, int64_t task, Writers* writers) {
  INGOT_CHECK(task >= 0 && task < kernel.task_count);
  Interpreter(kernel, buffers, task, writers).run();
}

void interpret_all(const Kernel& kernel, std::span<std::byte* const> buffers) {
  for (int64_t task = 0; task < kernel.task_count; ++task) interpret(kernel, buffers, task);
}

}  // namespace ingot::loops
