#include <fmt/format.h>

#include <algorithm>

#include "aot/analysis/walk.h"
#include "aot/base/error.h"
#include "aot/ops/support/algebra.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/contraction.h"
#include "aot/ops/support/index.h"
#include "aot/passes/micro_batches/batch_parts.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

constexpr DType kIndex = DType::kI32;

// As what parts of a sum are added up: sums of narrow floats are rounded once, behind the loop.
DType carried_dtype(const Op& sum) {
  const DType dtype = sum.result()->type.dtype;
  return row_combiner(sum) == &kAdd && !sum.is(kScatter) && is_float(dtype) ? ops::accumulate_dtype(dtype) : dtype;
}

// Makes, in the body of a loop, what the ops of rows are for one part of the batch.
class PartBody {
 public:
  PartBody(const BatchParts& parts, int64_t count, Block& body) : parts_(parts), count_(count), body_(body) {
    b_.at_end(body);
  }

  GraphBuilder& builder() { return b_; }

  // The part of a value that has rows along `dim`, or is cut as one that has.
  Value* part_of(Value* value, int dim) {
    Value*& part = made_[{value, dim}];
    if (!part) part = parts_.rows.contains(value) ? slice(value, dim) : part_of_whole(value, dim);
    return part;
  }

  // What `op` is for a part; `declared` are its results' types.
  Op* copy(const Op& op, std::vector<TensorType> declared) {
    b_.location = op.location;
    Values operands;
    const std::vector<int>& cuts = parts_.cuts.at(&op);
    for (size_t i = 0; i < cuts.size(); ++i)
      operands.push_back(cuts[i] < 0 ? op.operands[i] : part_of(op.operands[i], cuts[i]));
    return copy_on(op, std::move(operands), std::move(declared));
  }

  Op* copy_on(const Op& op, Values operands, std::vector<TensorType> declared) {
    AttrMap attrs = op.attr_map;
    cut_sizes(op, attrs);
    std::vector<std::unique_ptr<Block>> regions;
    ValueMap map;
    for (const auto& region : op.regions) regions.push_back(copy_block(*region, map));
    return b_.create(*op.def, std::move(operands), std::move(attrs), std::move(declared), std::move(regions));
  }

  void add_row_op(const Op& op) {
    std::vector<TensorType> types;
    for (const auto& result : op.results) types.push_back(cut(result->type, parts_.rows.at(result.get()).dim));
    const Op* part = copy(op, std::move(types));
    for (size_t i = 0; i < op.results.size(); ++i) {
      const Value* result = op.results[i].get();
      made_[{result, parts_.rows.at(result).dim}] = part->result(static_cast<int>(i));
    }
  }

  // Where the part begins along a dimension of so many places.
  Value* start(int64_t places) {
    Value*& start = starts_[places];
    if (!start)
      start =
          ops::multiply(b_, body_.argument(0), ops::constant(b_, {kIndex, {}}, static_cast<double>(places / count_)));
    return start;
  }

  // Indices at which the part begins in a tensor that has rows along `dim`.
  Values starts(const TensorType& type, int dim) {
    Values starts;
    for (int d = 0; d < type.rank(); ++d)
      starts.push_back(d == dim ? start(type.shape[d]) : ops::constant(b_, {kIndex, {}}, 0));
    return starts;
  }

 private:
  TensorType cut(TensorType type, int dim) const {
    type.shape[dim] /= count_;
    return type;
  }

  Value* slice(Value* value, int dim) {
    return ops::dynamic_slice(b_, value, starts(value->type, dim), cut(value->type, dim).shape);
  }

  // What does not depend on the batch: of elementwise ops the part alone is made, as of random masks, from what takes
  // least; that is read from where it lies.
  Value* part_of_whole(Value* value, int dim) {
    const TensorType type = cut(value->type, dim);
    const Op* op = value->op;
    if (!op) return slice(value, dim);
    if (op->is(kConstant) && op->attrs().literal("value")->is_splat)
      return ops::constant(b_, with_shape(*op->attrs().literal("value"), type.shape));
    if (op->is(kIota)) return part_of_iota(*op, type, dim);
    if (op->is(kBroadcastInDim)) return part_of_broadcast(*op, type, dim);
    if (op->is(kReshape)) return part_of_reshape(*op, type, dim);
    if (!op->def->is_elementwise || operand_bytes(*op, dim) > value->type.bytes()) return slice(value, dim);
    Values operands;
    for (Value* operand : op->operands) operands.push_back(operand->type.rank() == 0 ? operand : part_of(operand, dim));
    b_.location = op->location;
    return copy_on(*op, std::move(operands), {type})->result();
  }

  // What lies in memory, at least, to make parts of a value that does not depend on the batch.
  int64_t kept_bytes(const Value* value, int dim) {
    const auto [at, is_new] = kept_bytes_.try_emplace({value, dim}, 0);
    if (is_new && value->op) at->second = kept_bytes_of(*value->op, value->type, dim);
    return at->second;
  }

  int64_t kept_bytes_of(const Op& op, const TensorType& type, int dim) {
    if (op.is(kIota) || constant_of(op.result())) return 0;
    if (op.is(kBroadcastInDim)) {
      const int from = broadcast_from(op, dim);
      return from < 0 ? 0 : kept_bytes(op.operand(0), from);
    }
    if (op.is(kReshape)) {
      const auto rows = reshaped_from(op, dim);
      return rows ? kept_bytes(op.operand(0), rows->dim) : type.bytes();
    }
    return op.def->is_elementwise ? std::min(operand_bytes(op, dim), type.bytes()) : type.bytes();
  }

  int64_t operand_bytes(const Op& op, int dim) {
    int64_t bytes = 0;
    for (const Value* operand : op.operands) bytes += operand->type.rank() == 0 ? 0 : kept_bytes(operand, dim);
    return bytes;
  }

  // The dimension of the operand that becomes `dim`; -1: it is repeated along it.
  static int broadcast_from(const Op& op, int dim) {
    const int from = ops::position_of(op.attrs().ints("broadcast_dimensions"), dim);
    return from < 0 || op.operand(0)->type.shape[from] == 1 ? -1 : from;
  }

  std::optional<RowDim> reshaped_from(const Op& op, int dim) const {
    const Shape &from = op.operand(0)->type.shape, &to = op.result()->type.shape;
    return reshaped_rows({dim, to[dim] / parts_.count}, to, from);
  }

  Value* part_of_iota(const Op& op, const TensorType& type, int dim) {
    const int64_t along = op.attrs().integer("iota_dimension");
    if (along != dim) return ops::iota(b_, type, along);
    return ops::iota_from(b_, type, along, start(op.result()->type.shape[dim]));
  }

  Value* part_of_broadcast(const Op& op, const TensorType& type, int dim) {
    const int from = broadcast_from(op, dim);
    Value* x = op.operand(0);
    return ops::broadcast_in_dim(b_, from < 0 ? x : part_of(x, from), type.shape,
                                 op.attrs().ints("broadcast_dimensions"));
  }

  Value* part_of_reshape(const Op& op, const TensorType& type, int dim) {
    const auto rows = reshaped_from(op, dim);
    return rows ? ops::reshape(b_, part_of(op.operand(0), rows->dim), type.shape) : slice(op.result(), dim);
  }

  // Attributes that say how much is read.
  void cut_sizes(const Op& op, AttrMap& attrs) const {
    if (op.is(kGather) || op.is(kDynamicSlice)) {
      cut_along(op, attrs, "slice_sizes");
    } else if (op.is(kSlice)) {
      cut_along(op, attrs, "limit_indices");
    }
  }

  void cut_along(const Op& op, AttrMap& attrs, const std::string& name) const {
    const int dim = parts_.cuts.at(&op)[0];
    std::vector<int64_t> sizes = op.attrs().ints(name);
    if (dim < 0 || sizes[dim] != op.operand(0)->type.shape[dim]) return;  // it reads one place for each row
    sizes[dim] /= count_;
    attrs[name] = sizes;
  }

  const BatchParts& parts_;
  const int64_t count_;
  Block& body_;
  GraphBuilder b_;
  std::map<std::pair<const Value*, int>, Value*> made_;
  std::map<int64_t, Value*> starts_;
  std::map<std::pair<const Value*, int>, int64_t> kept_bytes_;
};

// Computes the batch of a function in so many parts.
class BatchSplit {
 public:
  BatchSplit(Function& entry, const BatchParts& parts, int64_t count)
      : block_(entry.body), parts_(parts), count_(count), body_(std::make_unique<Block>()) {}

  void run() {
    Op* end = block_.terminator();
    for (Op* op : parts_.later) block_.ops.splice(end->self, block_.ops, op->self);
    b_.before(parts_.later.empty() ? *end : *parts_.later.front());
    find_carried();
    Values starts = {ops::constant(b_, {kIndex, {}}, 0)};
    body_->add_argument({kIndex, {}});
    for (const Carried& carried : carried_) {
      starts.push_back(start_of(carried));
      body_->add_argument(starts.back()->type);
    }
    make_body();
    std::vector<std::unique_ptr<Block>> regions;
    regions.push_back(condition(starts));
    regions.push_back(std::move(body_));
    b_.location = parts_.sums.empty() ? end->location : parts_.sums[0]->location;
    const AttrMap attrs = {{attributes::kMicroBatches, UnitAttr{}}};
    const Op* loop = b_.create(kWhile, starts, attrs, {}, std::move(regions));
    for (size_t i = 0; i < carried_.size(); ++i) put_in_place(carried_[i], loop->result(static_cast<int>(i) + 1));
    erase_unread(block_);
  }

 private:
  // What the loop carries: what a sum is so far, or the rows of a result that there are so far.
  struct Carried {
    const Op* sum = nullptr;  // null: a result of the function
    Value* value;
  };

  void find_carried() {
    for (Op* sum : parts_.sums) carried_.push_back({sum, sum->result()});
    for (Value* value : block_.terminator()->operands) {
      const bool is_known = std::ranges::find(carried_, value, &Carried::value) != carried_.end();
      if (value->op && parts_.rows.contains(value) && !is_known) carried_.push_back({nullptr, value});
    }
  }

  Value* start_of(const Carried& carried) {
    TensorType type = carried.value->type;
    if (!carried.sum) return ops::constant(b_, type, 0);
    b_.location = carried.sum->location;
    if (carried.sum->is(kScatter)) return carried.sum->operand(0);
    type.dtype = carried_dtype(*carried.sum);
    return row_combiner(*carried.sum) == &kAdd ? ops::constant(b_, type, 0)
                                               : ops::broadcast_scalar(b_, carried.sum->operand(1), type.shape);
  }

  std::unique_ptr<Block> condition(const Values& starts) {
    auto block = std::make_unique<Block>();
    for (const Value* start : starts) block->add_argument(start->type);
    GraphBuilder b;
    b.at_end(*block);
    Value* end = ops::constant(b, {kIndex, {}}, static_cast<double>(count_));
    b.create(kStablehloReturn, {ops::compare(b, "LT", block->argument(0), end)});
    return block;
  }

  void make_body() {
    PartBody part(parts_, count_, *body_);
    std::map<const Value*, Value*> next;
    for (const auto& op : block_.ops) {
      if (!parts_.cuts.contains(op.get())) continue;
      const auto carried = std::ranges::find(carried_, op.get(), &Carried::sum);
      if (carried == carried_.end()) {
        part.add_row_op(*op);
      } else {
        next[carried->value] = with_part(part, *op, body_->argument(static_cast<int>(carried - carried_.begin()) + 1));
      }
    }
    GraphBuilder& b = part.builder();
    Value* one = ops::constant(b, {kIndex, {}}, 1);
    Values ends = {ops::add(b, body_->argument(0), one)};
    for (const Carried& carried : carried_) {
      Value* so_far = body_->argument(static_cast<int>(ends.size()));
      ends.push_back(carried.sum ? next.at(carried.value) : with_rows(part, carried.value, so_far));
    }
    b.create(kStablehloReturn, ends);
    erase_unread(*body_);
  }

  // What a sum is so far, and of one more part.
  static Value* with_part(PartBody& part, const Op& sum, Value* so_far) {
    if (sum.is(kScatter)) {
      Op* scatter = part.copy(sum, {sum.result()->type});
      scatter->set_operand(0, so_far);
      return scatter->result();
    }
    TensorType type = sum.result()->type;
    if (sum.def->contraction) type.dtype = so_far->type.dtype;
    Value* added = ops::convert(part.builder(), part.copy(sum, {type})->result(), so_far->type.dtype);
    return ops::binary(part.builder(), *row_combiner(sum), so_far, added);
  }

  Value* with_rows(PartBody& part, Value* value, Value* so_far) const {
    const int dim = parts_.rows.at(value).dim;
    GraphBuilder& b = part.builder();
    return ops::dynamic_update_slice(b, so_far, part.part_of(value, dim), part.starts(value->type, dim));
  }

  void put_in_place(const Carried& carried, Value* result) {
    Value* value = ops::convert(b_, result, carried.value->type.dtype);
    value->name = carried.value->name;
    if (carried.sum) return replace_all_uses(carried.value, value);
    Op* end = block_.terminator();
    for (int i = 0; i < std::ssize(end->operands); ++i) {
      if (end->operand(i) == carried.value) end->set_operand(i, value);
    }
  }

  Block& block_;
  const BatchParts& parts_;
  const int64_t count_;
  std::unique_ptr<Block> body_;
  GraphBuilder b_;
  std::vector<Carried> carried_;
};

// The number of parts that is asked for, or the next one that divides the rows.
int64_t count_of(const Function& entry, const BatchParts& parts, const MicroBatches& asked) {
  int64_t count = asked.count;
  while (asked.is_least && count < parts.count && parts.count % count != 0) ++count;
  if (count > parts.count) throw CannotSplit(entry, fmt::format("it has {} rows", parts.count));
  if (parts.count % count == 0) return count;
  throw CannotSplit(entry, fmt::format("{} does not divide its {} rows", count, parts.count));
}

bool split_entry(Function& entry, const MicroBatches& asked, std::vector<MicroBatchNote>& notes) {
  if (asked.count < 2 || micro_batches_of(entry)) return false;
  const BatchParts parts = batch_parts(entry);
  if (parts.count == 0 && asked.entry.empty()) return false;
  if (!parts.why_not.empty()) throw CannotSplit(entry, parts.why_not);
  const int64_t count = count_of(entry, parts, asked);
  BatchSplit(entry, parts, count).run();
  notes.push_back({entry.name, count, parts.count / count});
  return true;
}

}  // namespace

const MicroBatches* micro_batches_for(const std::string& entry, const std::vector<MicroBatches>& all) {
  const MicroBatches* found = nullptr;
  for (const MicroBatches& row : all) {
    if (row.entry == entry) return &row;
    if (row.entry.empty()) found = &row;
  }
  return found;
}

Op* micro_batches_of(const Function& function) {
  for (const auto& op : function.body.ops) {
    if (op->attr_map.contains(attributes::kMicroBatches)) return op.get();
  }
  return nullptr;
}

CannotSplit::CannotSplit(const Function& entry, const std::string& why)
    : Error(ErrorKind::kError, entry.location,
            fmt::format("--micro-batches: the batch of @{} cannot be computed in parts: {}", entry.name, why)),
      entry_(entry.name) {}

bool split_batch(Module& module, PassContext& context) {
  bool changed = false;
  for (const auto& function : module.functions) {
    if (function->is_private) continue;
    const MicroBatches* asked = micro_batches_for(function->name, context.micro_batches);
    if (asked) changed |= split_entry(*function, *asked, context.micro_batch_notes);
  }
  return changed;
}

}  // namespace ingot
