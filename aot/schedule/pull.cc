#include "aot/schedule/pull.h"

#include <algorithm>
#include <cstdlib>

#include "aot/ops/support/moved_element.h"
#include "aot/ops/support/tiles.h"
#include "aot/schedule/rows_ahead.h"

namespace ingot::schedule {

using loops::Expr;
using loops::ExprKind;
using loops::Index;

bool same(const Expr& a, const Expr& b) {
  if (a == b) return true;
  if (!a || !b) return false;
  return a->kind == b->kind && a->dtype == b->dtype && a->lanes == b->lanes && a->op == b->op &&
         a->round_to == b->round_to && a->bits == b->bits && a->index == b->index && a->indices == b->indices &&
         a->var == b->var && a->buffer == b->buffer && a->tile == b->tile &&
         std::ranges::equal(a->args, b->args, [](const Expr& x, const Expr& y) { return same(x, y); });
}

namespace {

// By several ops, or by one that makes several elements of the same.
bool is_read_again(const Value& value) {
  return value.uses.size() > 1 || (value.uses.size() == 1 && ops::tiles_of(*value.uses[0].op));
}

}  // namespace

Expr Pull::element(const Value* value, const std::vector<Index>& index, Expr mask) {
  for (auto memo = memos_.rbegin(); memo != memos_.rend(); ++memo) {
    for (const Made& made : *memo) {
      if (made.value == value && made.view == view_ && made.index == index && same(made.mask, mask))
        return made.element;
    }
  }
  Expr element = make(value, index, mask);
  if (answers_.contains(value)) return element;
  const bool is_simple = element->kind == ExprKind::kConstant || element->kind == ExprKind::kIndex;
  if (is_read_again(*value) && !is_simple) element = b_.let(value->name.empty() ? "v" : value->name, element);
  memos_.back().push_back({value, index, std::move(mask), view_, element});
  return element;
}

Expr Pull::make(const Value* value, const std::vector<Index>& index, const Expr& mask) {
  const auto in_own_coordinates = [&] { return view_ ? loops::reshaped(b_, index, *view_, value->type.shape) : index; };
  if (const auto answer = answers_.find(value); answer != answers_.end()) {
    return answer->second(in_own_coordinates(), mask);
  }
  if (const auto buffer = buffers_.find(value); buffer != buffers_.end()) {
    const Index at = loops::flatten(index, view_ ? *view_ : value->type.shape);
    const Expr transposed = square_ && !mask ? square_->load(buffer->second, at) : nullptr;
    return transposed ? transposed : b_.load(buffer->second, at, mask);
  }
  const Op* op = value->op;
  if (!op || !op->def->has_elements()) {
    throw_bug("schedule: no element of %" + value->name + (op ? " of " + std::string(op->name()) : ""));
  }
  const AccessMap map = access_map(*op);
  const Shape* outer_view = view_;
  Expr element;
  if (map.is_flat) {
    if (!view_) view_ = &value->type.shape;
    element = this->element(op->operand(0), index, mask);
  } else if (reads_own_index(*op)) {
    loops::ElementArgs args{b_, *op, value->index, index, mask, *this};
    element = op->def->element(args);
  } else {
    const std::vector<Index> own = in_own_coordinates();
    view_ = nullptr;
    loops::ElementArgs args{b_, *op, value->index, own, mask, *this};
    element = map.is_empty() ? op->def->element(args) : ops::moved_element(args, map);
  }
  view_ = outer_view;
  return element;
}

void Pull::prefetch_rows(const Value* value, const std::vector<Index>& index, int64_t bytes) {
  Scope scope(*this);
  const auto is_data = [&](const Index::Term& term) { return b_.kernel().vars[term.var].kind == loops::VarKind::kLet; };
  std::vector<Expr> open = {element(value, index, nullptr)};
  while (!open.empty()) {
    const Expr expr = std::move(open.back());
    open.pop_back();
    open.insert(open.end(), expr->args.begin(), expr->args.end());
    const bool is_row = expr->kind == ExprKind::kLoad && std::ranges::any_of(expr->index.terms, is_data);
    if (is_row) prefetch_row(b_, expr->buffer, expr->index, bytes);
  }
}

Expr Pull::Square::load(loops::BufferId buffer, const Index& index) {
  // Elements ahead that are prefetched: lines so far apart are nothing that processors foresee.
  constexpr int64_t kAhead = 16;
  loops::KernelBuilder& b = pull_.b_;
  const Index line = index.without(loops::kLaneVar) - Index(place_);
  const int64_t step = index.coefficient(loops::kLaneVar);
  // One scope is that of the element at hand; what deeper ones do is not done for every place.
  const bool is_in_element = pull_.memos_.size() == depth_ + 1;
  if (std::abs(step) <= 1 || b.has_lanes(line) || line.coefficient(first_) != 1 || !is_in_element) return nullptr;
  for (const Loaded& it : loaded_) {
    if (it.buffer == buffer && it.index == line) return b.read(it.vectors, {place_});
  }
  if (place_ != 0) return nullptr;
  const int64_t lanes = b.vector_lanes();
  const loops::TileId vectors =
      b.tile("square", loops::register_dtype(b.kernel().buffers[buffer].dtype), static_cast<int>(lanes), {lanes});
  for (int64_t i = 0; i < lanes; ++i) {
    b.prefetch(buffer, line + i * step + kAhead);
    b.set(vectors, {i}, b.load(buffer, line + i * step + b.lane()));
  }
  b.transpose(vectors);
  loaded_.push_back({buffer, line, vectors});
  return b.read(vectors, {0});
}

namespace {

void refuse_what_is_no_scalar(const Block& region) {
  const Op& outer = *region.parent_op;
  for (const auto& op : region.ops) {
    if (op->def->has_elements() || op->def->is_terminator) continue;
    throw_limit(op->location, std::string(op->name()) + " in the region of " + std::string(outer.name()) +
                                  " cannot be compiled yet; elementwise ops of scalars can");
  }
  if (captured_values(region).empty()) return;
  throw_limit(outer.location, std::string(outer.name()) +
                                  ": its region reads values from outside, which cannot be compiled yet; constants "
                                  "can be made inside");
}

}  // namespace

std::vector<Expr> run_region(loops::KernelBuilder& b, const Block& region, const std::vector<Expr>& arguments) {
  INGOT_CHECK(arguments.size() == region.arguments.size());
  refuse_what_is_no_scalar(region);
  Pull pull(b);
  for (size_t i = 0; i < arguments.size(); ++i) {
    pull.answer(region.argument(static_cast<int>(i)),
                [argument = arguments[i]](const auto&, const Expr&) { return argument; });
  }
  std::vector<Expr> results;
  for (const Value* value : region.terminator()->operands) results.push_back(pull.element(value, {}, nullptr));
  return results;
}

}  // namespace ingot::schedule
