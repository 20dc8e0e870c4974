#include "aot/plan/tables.h"

#include <fmt/format.h>

#include "aot/base/error.h"
#include "aot/graph/attributes.h"
#include "aot/plan/plan.h"

namespace ingot::plan {

void StateTable::add(const Function& entry) {
  for (int i = 0; i < entry.argument_count(); ++i) {
    const Value& argument = *entry.body.argument(i);
    add(entry, entry.argument_attrs[i], argument.type, argument.location);
  }
  for (const FunctionResult& result : entry.results) add(entry, result.attrs, result.type, entry.location);
}

void StateTable::add(const Function& entry, const AttrMap& attrs, const TensorType& type, const Location& location) {
  const std::string name = attr_text(attrs, attributes::kState);
  if (name.empty()) return;
  const auto [at, is_new] = by_name_.emplace(name, static_cast<int>(slots_.size()));
  if (is_new) {
    slots_.push_back({name, type, attr_text(attrs, attributes::kRole), bytes_});
    bytes_ += align_up(type.bytes());
  } else if (slots_[at->second].type != type) {
    throw_error(location, fmt::format("state '{}' is {} in @{} but {} elsewhere; give it one type", name,
                                      to_string(type), entry.name, to_string(slots_[at->second].type)));
  }
}

int StateTable::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? -1 : found->second;
}

int64_t RodataPool::add(const Literal& literal) {
  const std::vector<std::byte> data = literal.dense_bytes();
  std::string content(reinterpret_cast<const char*>(data.data()), data.size());
  const auto found = offsets_.find(content);
  if (found != offsets_.end()) return found->second;
  const int64_t offset = align_up(static_cast<int64_t>(bytes_.size()));
  bytes_.resize(offset);
  bytes_.insert(bytes_.end(), data.begin(), data.end());
  offsets_.emplace(std::move(content), offset);
  return offset;
}

int KernelTable::add(const loops::Kernel& kernel) {
  const auto [at, is_new] = by_key_.emplace(loops::structural_key(kernel), static_cast<int>(kernels_.size()));
  if (is_new) kernels_.push_back(kernel);
  return at->second;
}

}  // namespace ingot::plan
