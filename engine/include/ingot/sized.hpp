// Programs that were compiled at several sizes (`ingot compile --shape batch=1,8,32`): what has any size goes to the
// smallest entry point that holds it. Header only.
//
//   ingot::engine::SizedProgram predict(bundle, "predict");    // predict@batch=1, predict@batch<=8, predict@batch<=32
//   auto call = predict.at(session, {{"batch", 5}});           // predict@batch<=8
//   fill(call.input<float>("images"));                         // five rows
//   call.run();
//   print(call.output<float>("scores"));                       // five rows
//
// An entry point PROGRAM@NAME=SIZE takes this size alone; PROGRAM@NAME<=SIZE takes fewer rows too, whose results do not
// depend on the others. What is not found throws Failure. run() does not allocate.
#pragma once

#include <algorithm>
#include <charconv>
#include <ingot/engine.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::engine {

// A size in the name of an entry point.
struct Size {
  std::string name;
  std::vector<uint64_t> extents;  // one, or one for each dimension of the input that is called so
  bool takes_fewer = false;
};

// An entry point of a program at several sizes.
struct SizedName {
  std::string program;      // all of the name where there are no sizes
  std::vector<Size> sizes;  // of "predict@batch<=8,seq=16": of batch and seq
};

inline SizedName parse_sized_name(std::string_view name) {
  SizedName parsed;
  size_t at = name.find('@');
  parsed.program = name.substr(0, at);
  while (at < name.size()) {
    const std::string_view part = name.substr(at + 1, name.find(',', at + 1) - at - 1);
    at = name.find(',', at + 1);
    const size_t equals = part.find('=');
    if (equals == part.npos || equals == 0) return {std::string(name), {}};
    Size size;
    size.takes_fewer = part[equals - 1] == '<';
    size.name = part.substr(0, equals - (size.takes_fewer ? 1 : 0));
    for (size_t x = equals; x < part.size();) {
      const char* const end = part.data() + part.size();
      const auto [rest, error] = std::from_chars(part.data() + x + 1, end, size.extents.emplace_back());
      if (error != std::errc() || (rest < end && *rest != 'x')) return {std::string(name), {}};
      x = static_cast<size_t>(rest - part.data());
    }
    parsed.sizes.push_back(std::move(size));
  }
  return parsed;
}

using WantedSizes = std::map<std::string, uint64_t>;

// The entry point that sizes ask for, and of each of its inputs and outputs how long the first dimension of what is wanted
// is: 0 for a scalar.
struct SizedChoice {
  uint32_t entry = 0;
  std::vector<uint64_t> input_rows, output_rows;
};

// A call of the chosen entry point.
class SizedCall {
 public:
  SizedCall(Session& session, SizedChoice choice)
      : bundle_(&session.bundle()), entry_(session.entry(choice.entry)), choice_(std::move(choice)) {}

  // The memory of what is wanted, as Entry's: the first rows, where the entry point has more.
  template <typename T>
  std::span<T> input(const std::string& name) const {
    const uint32_t input = bundle_->find_input(choice_.entry, name);
    return cut(entry_.input<T>(name), bundle_->input(choice_.entry, input), choice_.input_rows[input]);
  }
  template <typename T>
  std::span<const T> output(const std::string& name) const {
    const uint32_t output = bundle_->find_output(choice_.entry, name);
    return cut(entry_.output<T>(name), bundle_->output(choice_.entry, output), choice_.output_rows[output]);
  }
  void run() const { entry_.run(); }
  const Entry& entry() const { return entry_; }

 private:
  template <typename T>
  static std::span<T> cut(std::span<T> all, const ingot_tensor_info& tensor, uint64_t rows) {
    return tensor.rank == 0 || tensor.dims[0] == 0 ? all : all.first(all.size() / tensor.dims[0] * rows);
  }

  const Bundle* bundle_;
  Entry entry_;
  SizedChoice choice_;
};

class SizedProgram {
 public:
  SizedProgram(const Bundle& bundle, const std::string& program) : bundle_(bundle), program_(program) {
    for (uint32_t i = 0; i < bundle.info().entry_count; ++i) {
      const SizedName name = parse_sized_name(bundle.entry(i).name);
      if (name.program == program && !name.sizes.empty()) members_.push_back({i, name.sizes});
    }
    if (members_.empty()) fail("no entry point is '" + program + "' at several sizes");
  }

  // For these sizes: of the entry points that hold them the smallest.
  SizedChoice choose(const WantedSizes& wanted) const {
    const Member* best = nullptr;
    for (const Member& member : members_) {
      if (holds(member, wanted) && (!best || volume(member) < volume(*best))) best = &member;
    }
    if (!best) fail("'" + program_ + "' has no entry point for " + to_string(wanted) + "; there are: " + names());
    SizedChoice choice{best->entry, {}, {}};
    const ingot_entry_info info = bundle_.entry(best->entry);
    for (uint32_t i = 0; i < info.input_count; ++i) choice.input_rows.push_back(rows(*best, true, i, wanted));
    for (uint32_t i = 0; i < info.output_count; ++i) choice.output_rows.push_back(rows(*best, false, i, wanted));
    return choice;
  }
  SizedCall at(Session& session, const WantedSizes& wanted) const { return {session, choose(wanted)}; }

  // The sizes that an input of this shape asks for, among `wanted` from then on. Throws where the shape fits no entry
  // point, or asks for another size than `wanted` has.
  void want(const std::string& input, std::span<const uint64_t> dims, WantedSizes& wanted) const {
    const uint32_t index = bundle_.find_input(members_[0].entry, input);
    for (uint32_t d = 0; d < dims.size(); ++d) {
      const std::optional<Follows> follows = followed(true, index, d);
      if (!follows) continue;
      const uint64_t size = dims[d] / follows->each;
      const auto [at, is_new] = wanted.emplace(members_[0].sizes[follows->size].name, size);
      if (dims[d] % follows->each != 0 || at->second != size)
        fail("'" + input + "' asks for " + at->first + "=" + std::to_string(size) + ", but another input for " +
             std::to_string(at->second));
    }
  }

 private:
  struct Member {
    uint32_t entry;
    std::vector<Size> sizes;
  };
  // A dimension is `each` times the size of this position.
  struct Follows {
    size_t size;
    uint64_t each;
  };

  static bool holds(const Member& member, const WantedSizes& wanted) {
    if (wanted.size() != member.sizes.size()) return false;
    return std::ranges::all_of(member.sizes, [&](const Size& size) {
      const auto found = wanted.find(size.name);
      if (found == wanted.end() || size.extents.size() != 1) return false;
      return size.takes_fewer ? found->second <= size.extents[0] : found->second == size.extents[0];
    });
  }

  static uint64_t volume(const Member& member) {
    uint64_t volume = 1;
    for (const Size& size : member.sizes) {
      for (const uint64_t extent : size.extents) volume *= extent;
    }
    return volume;
  }

  ingot_tensor_info tensor(const Member& member, bool is_input, uint32_t index) const {
    return is_input ? bundle_.input(member.entry, index) : bundle_.output(member.entry, index);
  }

  // The size that a dimension follows through all entry points.
  std::optional<Follows> followed(bool is_input, uint32_t index, uint32_t dim) const {
    for (size_t s = 0; s < members_[0].sizes.size(); ++s) {
      uint64_t each = 0, smallest = UINT64_MAX, greatest = 0;
      const bool follows = std::ranges::all_of(members_, [&](const Member& member) {
        const ingot_tensor_info info = tensor(member, is_input, index);
        const std::vector<uint64_t>& extents = member.sizes[s].extents;
        if (dim >= info.rank || extents.size() != 1 || extents[0] == 0 || info.dims[dim] % extents[0] != 0)
          return false;
        smallest = std::min(smallest, extents[0]);
        greatest = std::max(greatest, extents[0]);
        if (&member == &members_[0]) each = info.dims[dim] / extents[0];
        return info.dims[dim] == each * extents[0];
      });
      if (follows && each > 0 && smallest < greatest) return Follows{s, each};
    }
    return std::nullopt;
  }

  uint64_t rows(const Member& member, bool is_input, uint32_t index, const WantedSizes& wanted) const {
    const ingot_tensor_info info = tensor(member, is_input, index);
    const std::optional<Follows> follows = followed(is_input, index, 0);
    if (follows) return follows->each * wanted.at(member.sizes[follows->size].name);
    return info.rank == 0 ? 0 : info.dims[0];
  }

  static std::string to_string(const WantedSizes& wanted) {
    std::string text;
    if (wanted.empty()) return "no size";
    for (const auto& [name, size] : wanted) text += (text.empty() ? "" : ",") + name + "=" + std::to_string(size);
    return text;
  }

  std::string names() const {
    std::string text;
    for (const Member& member : members_)
      text += (text.empty() ? "" : ", ") + std::string(bundle_.entry(member.entry).name);
    return text;
  }

  [[noreturn]] static void fail(const std::string& text) {
    ingot_error error = {INGOT_NO_SUCH_NAME, ""};
    text.copy(error.text, sizeof error.text - 1);
    throw Failure(error);
  }

  const Bundle& bundle_;
  std::string program_;
  std::vector<Member> members_;
};

}  // namespace ingot::engine
