#include "aot/pipeline/at_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aot/analysis/independent_rows.h"
#include "aot/base/error.h"
#include "aot/base/join.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

constexpr size_t kCombinationsMax = 64;

class Sizes {
 public:
  Sizes(const LoadProgram& load, std::vector<SizeChoices>& choices) : load_(load), choices_(choices) {}

  AtSizes run() {
    std::vector<GivenShape> shapes = first_shapes();
    std::unique_ptr<Module> module = load_with(shapes);
    for (size_t i = 0; i < shapes.size(); ++i) {
      choices_[i].is_used |= shapes[i].is_used;
      if (shapes[i].is_used && choices_[i].sizes.size() > 1) open_.push_back(i);
    }
    if (open_.empty()) {
      result_.modules.push_back(std::move(module));
      return std::move(result_);
    }
    size_t combinations = 1;
    for (const size_t i : open_) combinations *= choices_[i].sizes.size();
    if (combinations > kCombinationsMax) {
      throw_error(nullptr, fmt::format("--shape asks for {} sizes of a program, and {} is the limit: give fewer",
                                       combinations, kCombinationsMax));
    }
    for (size_t c = 0; c < combinations; ++c) add(c);
    return std::move(result_);
  }

 private:
  std::vector<GivenShape> first_shapes() const {
    std::vector<GivenShape> shapes;
    for (const SizeChoices& choices : choices_) shapes.push_back({choices.name, choices.sizes[0]});
    return shapes;
  }

  // With all shapes known.
  std::unique_ptr<Module> load_with(std::vector<GivenShape>& shapes) const {
    std::unique_ptr<Module> module = load_(shapes);
    PassContext context;
    context.shapes = std::move(shapes);
    for (const auto pass : {inline_calls, drop_tokens, refine_shapes}) pass(*module, context);
    shapes = std::move(context.shapes);
    return module;
  }

  std::unique_ptr<Module> load_expanded(std::vector<GivenShape> shapes) const {
    std::unique_ptr<Module> module = load_with(shapes);
    PassContext context;
    for (const auto pass : {quantize_to_integers, widen_floats, expand, dce}) pass(*module, context);
    return module;
  }

  // One combination: the sizes of open names by the digits of its number, the last one fastest.
  void add(size_t combination) {
    std::vector<GivenShape> shapes = first_shapes();
    for (size_t k = open_.size(); k-- > 0;) {
      const std::vector<Shape>& sizes = choices_[open_[k]].sizes;
      shapes[open_[k]].sizes = sizes[std::exchange(combination, combination / sizes.size()) % sizes.size()];
    }
    std::unique_ptr<Module> module = load_with(shapes);
    for (const auto& function : module->functions) {
      if (!function->is_private) function->name += suffix(function->name, shapes);
    }
    result_.modules.push_back(std::move(module));
  }

  std::string suffix(const std::string& entry, const std::vector<GivenShape>& shapes) {
    std::vector<std::string> parts, reasons;
    for (const size_t i : open_) {
      const bool is_one = shapes[i].sizes == Shape{1};
      const std::string why = is_one ? "" : why_no_fewer(entry, shapes, i);
      parts.push_back(
          fmt::format("{}{}{}", shapes[i].name, why.empty() && !is_one ? "<=" : "=", join(shapes[i].sizes, "x")));
      if (!why.empty()) reasons.push_back(fmt::format("takes no fewer {}: {}", shapes[i].name, why));
    }
    std::string text = "@" + join(parts, ",");
    for (const std::string& reason : reasons) result_.notes.push_back(fmt::format("{}{} {}", entry, text, reason));
    return text;
  }

  // Compares the program with itself at one more.
  std::string why_no_fewer(const std::string& entry, const std::vector<GivenShape>& shapes, size_t i) const {
    if (shapes[i].sizes.size() != 1) return "it is several sizes";
    std::vector<GivenShape> more = shapes;
    ++more[i].sizes[0];
    std::unique_ptr<Module> other;
    try {
      other = load_expanded(more);
    } catch (const Error& error) {
      return fmt::format("{} is refused: {}", more[i].sizes[0], error.message());
    }
    const std::unique_ptr<Module> module = load_expanded(shapes);
    return why_rows_depend(*module->find(entry), *other->find(entry), shapes[i].sizes[0]);
  }

  const LoadProgram& load_;
  std::vector<SizeChoices>& choices_;
  std::vector<size_t> open_;  // of the choices, those that the program leaves open and that have several sizes
  AtSizes result_;
};

}  // namespace

AtSizes at_sizes(const LoadProgram& load, std::vector<SizeChoices>& choices) { return Sizes(load, choices).run(); }

}  // namespace ingot
