#include "aot/passes/chain/row_statistics.h"

#include <algorithm>

#include "aot/analysis/regions.h"
#include "aot/analysis/walk.h"
#include "aot/base/contains.h"

namespace ingot {

Values reduces_in(const Op& kernel) {
  Values reduced;
  for (const auto& op : kernel.region().ops) {
    if (op->def->root == KernelRoot::kReduce && op->results.size() == 1) reduced.push_back(op->result());
  }
  return reduced;
}

Values give_reduced(Op*& kernel) {
  Values yielded = kernel->region().terminator()->operands;
  const Values reduced = reduces_in(*kernel);
  for (Value* value : reduced) {
    if (!contains(yielded, value)) yielded.push_back(value);
  }
  GraphBuilder b;
  b.location = kernel->location;
  erase(kernel->region().terminator());
  b.at_end(kernel->region());
  b.create(kYield, yielded);
  b.before(*kernel);
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::move(kernel->regions[0]));
  kernel->regions.clear();
  Op* made = b.create(kKernel, kernel->operands, kernel->attr_map, {}, std::move(regions));
  for (const auto& result : kernel->results) {
    made->result(result->index)->name = result->name;
    replace_all_uses(result.get(), made->result(result->index));
  }
  erase(kernel);
  kernel = made;
  Values results;
  for (Value* value : reduced)
    results.push_back(made->result(static_cast<int>(std::ranges::find(yielded, value) - yielded.begin())));
  return results;
}

void read_reduced(Op& copy, const Values& given) {
  const Values reduced = reduces_in(copy);
  for (size_t i = 0; i < reduced.size(); ++i) {
    copy.add_operand(given[i]);
    replace_all_uses(reduced[i], copy.region().add_argument(given[i]->type, given[i]->name));
  }
  erase_unread(copy.region());
}

}  // namespace ingot
