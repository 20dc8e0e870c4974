#include "aot/plan/tables.h"

#include "aot/plan/plan.h"

namespace ingot::plan {

const StateSlot& StateTable::add(const std::string& name, const TensorType& type, const std::string& role) {
  const auto [at, is_new] = by_name_.emplace(name, static_cast<int>(slots_.size()));
  if (is_new) {
    slots_.push_back({name, type, role, bytes_});
    bytes_ += align_up(type.bytes());
  }
  return slots_[at->second];
}

int StateTable::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? -1 : found->second;
}

namespace {

std::string content_of(const Literal& literal) {
  const std::vector<std::byte> data = literal.dense_bytes();
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

}  // namespace

bool RodataPool::has(const Literal& literal) const { return offsets_.contains(content_of(literal)); }

int64_t RodataPool::add(const Literal& literal) {
  std::string content = content_of(literal);
  const auto found = offsets_.find(content);
  if (found != offsets_.end()) return found->second;
  const int64_t offset = align_up(static_cast<int64_t>(bytes_.size()));
  bytes_.resize(offset);
  const auto* data = reinterpret_cast<const std::byte*>(content.data());
  bytes_.insert(bytes_.end(), data, data + content.size());
  offsets_.emplace(std::move(content), offset);
  return offset;
}

int KernelTable::add(const loops::Kernel& kernel) {
  const auto [at, is_new] = by_key_.emplace(loops::structural_key(kernel), static_cast<int>(kernels_.size()));
  if (is_new) kernels_.push_back(kernel);
  return at->second;
}

}  // namespace ingot::plan
