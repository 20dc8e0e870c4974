#include "aot/passes/micro_batches/batch_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "aot/analysis/walk.h"
#include "aot/base/contains.h"
#include "aot/graph/attributes.h"
#include "aot/ops/ops.h"

namespace ingot {
namespace {

std::string named(const Op& op) {
  const std::string place = describe(op.location);
  return fmt::format("{}{}{}", place, place.empty() ? "" : ": ", op.name());
}

bool is_input(const Function& entry, int argument) {
  return !entry.argument_attrs[argument].contains(attributes::kState);
}

class PartsWalk {
 public:
  PartsWalk(const Function& entry, int64_t count) : entry_(entry) { parts_.count = count; }

  BatchParts run() {
    for (int i = 0; i < entry_.argument_count(); ++i) {
      const Value* argument = entry_.body.argument(i);
      if (!is_input(entry_, i) || argument->type.rank() == 0 || argument->type.shape[0] != parts_.count) continue;
      parts_.rows[argument] = {0, 1};
      cheap_.insert(argument);
    }
    for (const auto& op : entry_.body.ops) {
      if (op.get() != entry_.body.terminator() && !enter(*op)) break;
    }
    if (parts_.why_not.empty() && parts_.sums.empty() && !gives_rows())
      parts_.why_not = "nothing that takes memory is computed of its inputs' rows";
    return std::move(parts_);
  }

 private:
  bool has_rows(const Value* value) const { return parts_.rows.contains(value); }
  bool is_cheap(const Value* value) const { return !has_rows(value) || cheap_.contains(value); }

  bool gives_rows() const {
    return std::ranges::any_of(entry_.body.terminator()->operands, [&](const Value* v) { return !is_cheap(v); });
  }

  bool refuse(std::string why) {
    parts_.why_not = std::move(why);
    return false;
  }

  bool enter(Op& op) {
    const Values values = read_by(op);
    const auto of_rows = std::ranges::find_if(values, [&](const Value* value) { return has_rows(value); });
    const auto waits = std::ranges::find_if(values, [&](const Value* value) { return waits_for_.contains(value); });
    if (waits != values.end()) {
      if (of_rows != values.end()) {
        return refuse(fmt::format("rows depend on each other: {} reads rows, and what {} combines of all of them",
                                  named(op), named(*waits_for_.at(*waits))));
      }
      for (const auto& result : op.results) waits_for_[result.get()] = waits_for_.at(*waits);
      parts_.later.push_back(&op);
      return true;
    }
    return of_rows == values.end() || enter_row_op(op, values);
  }

  bool enter_row_op(Op& op, const Values& values) {
    const bool is_of_cheap = std::ranges::all_of(values, [&](const Value* value) { return is_cheap(value); });
    const bool is_light = op.def->is_elementwise || op.def->access || op.is(kReduce);
    std::vector<RowDim> rows;
    for (const Value* operand : op.operands) rows.push_back(has_rows(operand) ? parts_.rows.at(operand) : RowDim());
    const bool reads_alone = values.size() == op.operands.size();
    const std::optional<RowUse> use = reads_alone ? row_use(op, rows) : std::nullopt;
    if (is_of_cheap && is_light && (!use || !use->results.any())) return true;  // it is computed of the whole batch
    if (!use) return refuse(named(op) + " may not keep rows apart");
    parts_.cuts[&op] = use->operands;
    if (!use->results.any()) {
      parts_.sums.push_back(&op);
      for (const auto& result : op.results) waits_for_[result.get()] = &op;
      return true;
    }
    for (const auto& result : op.results) {
      parts_.rows[result.get()] = use->results;
      if (is_of_cheap && is_light) cheap_.insert(result.get());
    }
    return true;
  }

  const Function& entry_;
  BatchParts parts_;
  std::set<const Value*> cheap_;                 // of the values that have rows: may be computed of the whole batch
  std::map<const Value*, const Op*> waits_for_;  // of each later value, a sum that it is computed of
};

// The extent that the first dimension of most inputs has, of several the greatest; 0: none has a batch.
int64_t batch_rows(const Function& entry) {
  std::map<int64_t, int> inputs;  // by extent
  for (int i = 0; i < entry.argument_count(); ++i) {
    const Shape& shape = entry.body.argument(i)->type.shape;
    if (is_input(entry, i) && !shape.empty() && shape[0] > 1) ++inputs[shape[0]];
  }
  int64_t rows = 0;
  for (const auto& [extent, count] : inputs) {
    if (rows == 0 || count >= inputs.at(rows)) rows = extent;
  }
  return rows;
}

}  // namespace

BatchParts batch_parts(const Function& entry) {
  if (const int64_t rows = batch_rows(entry)) return PartsWalk(entry, rows).run();
  BatchParts none;
  none.why_not = "it has no input with a batch";
  return none;
}

}  // namespace ingot
