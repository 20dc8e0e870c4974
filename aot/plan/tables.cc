#include "aot/plan/tables.h"

#include <fmt/format.h>

#include "aot/base/error.h"
#include "aot/plan/plan.h"

namespace ingot::plan {

std::string attr_text(const AttrMap& attrs, std::string_view key) {
  const auto found = attrs.find(key);
  if (found == attrs.end()) return "";
  const auto* text = found->second.as<std::string>();
  return text ? *text : "";
}

void StateTable::add(const Function& entry) {
  for (int i = 0; i < entry.argument_count(); ++i) {
    const std::string name = attr_text(entry.argument_attrs[i], "ingot.state");
    if (name.empty()) continue;
    const Value& argument = *entry.body.argument(i);
    const auto [at, is_new] = by_name_.emplace(name, static_cast<int>(slots_.size()));
    if (is_new) {
      slots_.push_back({name, argument.type, attr_text(entry.argument_attrs[i], "ingot.role"), bytes_});
      bytes_ += align_up(argument.type.bytes());
    } else if (slots_[at->second].type != argument.type) {
      throw_error(argument.location,
                  fmt::format("state '{}' is {} in @{} but {} in another entry point; give it one type", name,
                              to_string(argument.type), entry.name, to_string(slots_[at->second].type)));
    }
  }
}

int StateTable::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? -1 : found->second;
}

int64_t RodataPool::add(const Literal& literal) {
  std::vector<std::byte> data = literal.dense_bytes();
  const auto found = offsets_.find(data);
  if (found != offsets_.end()) return found->second;
  const int64_t offset = align_up(static_cast<int64_t>(bytes_.size()));
  bytes_.resize(offset);
  bytes_.insert(bytes_.end(), data.begin(), data.end());
  offsets_.emplace(std::move(data), offset);
  return offset;
}

int KernelTable::add(const loops::Kernel& kernel) {
  const auto [at, is_new] = by_key_.emplace(loops::structural_key(kernel), static_cast<int>(kernels_.size()));
  if (is_new) kernels_.push_back(kernel);
  return at->second;
}

}  // namespace ingot::plan
