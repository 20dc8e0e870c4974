// Sequences and optionals: known while importing, element by element.
#include <fmt/format.h>

#include "aot/base/divide.h"
#include "aot/frontend/onnx/graph_importer.h"

namespace ingot::onnx {
namespace {

constexpr int64_t kPartsMax = 1 << 16;

int64_t position(NodeArgs& n, int input, int64_t size, bool allows_end) {
  const int64_t given = n.known_integer(input), at = given < 0 ? given + size : given;
  if (at < 0 || at > size - (allows_end ? 0 : 1)) n.fail(fmt::format("position {} of a sequence of {}", given, size));
  return at;
}

}  // namespace

Items lower_sequence_empty(NodeArgs&) { return Item::sequence_of({}); }

Items lower_sequence_construct(NodeArgs& n) {
  std::vector<Item> items;
  for (int i = 0; i < n.count(); ++i) items.push_back(n.item(i));
  return Item::sequence_of(std::move(items));
}

Items lower_sequence_at(NodeArgs& n) {
  const std::vector<Item>& sequence = n.sequence(0);
  return sequence[position(n, 1, std::ssize(sequence), false)];
}

Items lower_sequence_length(NodeArgs& n) { return onnx::integers(n.b, {DType::kI64, {}}, {std::ssize(n.sequence(0))}); }

Items lower_sequence_insert(NodeArgs& n) {
  std::vector<Item> items = n.sequence(0);
  const int64_t at = n.has(2) ? position(n, 2, std::ssize(items), true) : std::ssize(items);
  items.insert(items.begin() + at, n.item(1));
  return Item::sequence_of(std::move(items));
}

Items lower_sequence_erase(NodeArgs& n) {
  std::vector<Item> items = n.sequence(0);
  const auto size = std::ssize(items);
  if (size == 0) n.fail("the sequence is empty");
  items.erase(items.begin() + (n.has(1) ? position(n, 1, size, false) : size - 1));
  return Item::sequence_of(std::move(items));
}

Items lower_concat_from_sequence(NodeArgs& n) {
  std::vector<Term> terms;
  for (const Item& item : n.sequence(0)) {
    if (!item.value) n.fail("its sequence must be of tensors");
    terms.emplace_back(n.b, item.value);
  }
  if (terms.empty()) n.fail("the sequence is empty");
  if (!n.flag("new_axis")) return concat(terms, n.axis(n.integer("axis"), rank_of(terms[0])));
  const int64_t axis = n.axis(n.integer("axis"), rank_of(terms[0]) + 1);
  for (Term& term : terms) term = unsqueeze(term, axis);
  return concat(terms, axis);
}

// Parts of given sizes, of one size, or single slices, which lose the axis unless keepdims.
Items lower_split_to_sequence(NodeArgs& n) {
  const Term x = n.in(0);
  const int64_t axis = n.axis(n.integer("axis", 0), rank_of(x)), extent = x.shape()[axis];
  if (extent > kPartsMax) n.limit(fmt::format("a sequence of more than {} parts", kPartsMax));
  const bool drops = !n.flag("keepdims", true) && !n.has(1);
  std::vector<int64_t> sizes(n.has(1) ? 0 : extent, 1);
  if (n.has(1)) {
    sizes = n.known_integers(1);
    if (rank_of(n.in(1)) == 0) {
      const int64_t size = n.known_integer(1);
      if (size < 1) n.fail(fmt::format("parts of {} elements", size));
      sizes.clear();
      for (int64_t start = 0; start < extent; start += size) sizes.push_back(std::min(size, extent - start));
    }
  }
  std::vector<Item> parts;
  int64_t start = 0;
  for (const int64_t size : sizes) {
    if (size < 0 || size > extent - start) n.fail("its parts are longer than the axis");
    const Term part = slice(x, axis, start, start + size);
    parts.emplace_back(drops ? reshape(part, without(x.shape(), {axis})) : part);
    start += size;
  }
  return Item::sequence_of(std::move(parts));
}

// The body for each element of the first sequence, and of the others in step with it.
Items lower_sequence_map(NodeArgs& n) {
  const Graph& body = n.graph("body");
  const std::vector<Item>& first = n.sequence(0);
  std::vector<std::vector<Item>> outputs(body.outputs.size());
  for (size_t k = 0; k < first.size(); ++k) {
    std::vector<Item> inputs{first[k]};
    for (int i = 1; i < n.count(); ++i) {
      const Item& item = n.item(i);
      if (item.sequence && item.sequence->size() != first.size()) n.fail("its sequences differ in length");
      inputs.push_back(item.sequence ? (*item.sequence)[k] : item);
    }
    const std::vector<Item> made = n.importer.run_inner(body, inputs);
    for (size_t i = 0; i < outputs.size(); ++i) outputs[i].push_back(made[i]);
  }
  Items results;
  for (auto& output : outputs) results.push_back(Item::sequence_of(std::move(output)));
  return results;
}

Items lower_optional(NodeArgs& n) { return n.has(0) ? n.item(0) : Item(); }

Items lower_optional_has_element(NodeArgs& n) { return constant(n.b, {DType::kI1, {}}, n.has(0) ? 1 : 0); }

Items lower_optional_get_element(NodeArgs& n) { return n.item(0); }

}  // namespace ingot::onnx
