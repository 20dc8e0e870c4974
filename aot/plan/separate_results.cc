#include <set>

#include "aot/base/error.h"
#include "aot/plan/dependencies.h"

namespace ingot::plan {
namespace {

// A kernel that copies `value`; a constant of one value everywhere is made anew instead.
Value* copy_kernel(GraphBuilder& b, Value* value) {
  auto body = std::make_unique<Block>();
  GraphBuilder inner(b.table());
  inner.location = value->location;
  inner.at_end(*body);
  Values operands;
  Value* element = nullptr;
  const Op* constant = value->op && value->op->is("stablehlo.constant") ? value->op : nullptr;
  if (constant && constant->attrs().literal("value")->is_splat) {
    element = inner.make("stablehlo.constant", {}, constant->attr_map, {value->type});
  } else {
    operands = {value};
    element = body->add_argument(value->type, value->name);
  }
  inner.create("ingot.yield", {element});
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::move(body));
  b.location = value->location;
  return b.create("ingot.kernel", operands, {{"name", Attr("copy")}}, {}, std::move(regions))->result();
}

}  // namespace

int separate_results(Function& function, const OpTable& table, const LoweringOf& lowering) {
  Op* end = function.body.terminator();
  GraphBuilder b(table);
  b.before(*end);

  Dependencies dependencies(function);
  std::set<const Value*> claimed;
  std::set<int> copied;
  for (int i = 0; i < static_cast<int>(end->operands.size()); ++i) {
    Value* value = end->operand(i);
    const Value* old = old_state(function, i);
    if (old == value) continue;
    const bool own = value->op && value->op->is("ingot.kernel") && claimed.insert(value).second;
    bool direct = own;
    if (own && old) {
      const int writer = dependencies.index_of(value->op);
      const std::vector<int> readers = dependencies.readers(old);
      for (int reader : readers) {
        direct = direct && (reader == writer ? may_replace(*value->op, value->index, old, lowering(*value->op))
                                             : !dependencies.depends(reader, writer));
      }
      if (direct) {
        for (int reader : readers) dependencies.add(reader, writer);
      }
    }
    if (!direct) copied.insert(i);
  }
  int copies = 0;
  for (int i : copied) {
    Value* value = end->operand(i);
    // Two states may trade places: what one of them was is saved before either is written.
    const bool is_other_state = old_state(function, i) && value->block == &function.body;
    if (is_other_state) value = copy_kernel(b, value);
    end->set_operand(i, copy_kernel(b, value));
    copies += is_other_state ? 2 : 1;
  }
  return copies;
}

}  // namespace ingot::plan
