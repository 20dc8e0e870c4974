// What every lowered function must be, whoever made it.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "aot/base/error.h"
#include "aot/lowered/lowered.h"

namespace ingot::lowered {
namespace {

class Verifier {
 public:
  explicit Verifier(const Function& function) : function_(function) {}

  void run() {
    const Block& body = function_.body;
    require(function_.arguments.size() == body.arguments.size(), "an argument has no port, or a port no argument");
    require(function_.results.size() == body.results.size(), "a result has no port, or a port no result");
    for (const auto* ports : {&function_.arguments, &function_.results}) {
      for (const Port& port : *ports) require(!port.is_state || !port.name.empty(), "a state has no name");
    }
    for (const Constant& constant : function_.constants) {
      define(constant.value);
      require(constant.literal && constant.literal->type == type(constant.value),
              "the constant " + name(constant.value) + " has another type than its literal");
    }
    check(body);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw_bug(fmt::format("lowered {}: {}", function_.name, what));
  }
  void require(bool condition, const std::string& what) const {
    if (!condition) fail(what);
  }

  const TensorType& type(ValueId value) const { return function_.type(value); }
  const std::string& name(ValueId value) const { return function_.values[value].name; }

  // --- values ---

  void define(ValueId value) {
    require(value >= 0 && value < static_cast<int>(function_.values.size()), "there is no value of this number");
    require(made_.insert(value).second, name(value) + " is made twice");
    visible_.insert(value);
  }

  void read(ValueId value) const {
    require(visible_.contains(value),
            value < 0 || value >= static_cast<int>(function_.values.size())
                ? "there is no value of this number"
                : name(value) + " is read where it is not made yet, or outside of its block or node");
  }

  void check_alike(const std::vector<ValueId>& a, const std::vector<ValueId>& b, const std::string& what) const {
    const auto is_same_type = [&](ValueId x, ValueId y) { return type(x) == type(y); };
    require(std::ranges::equal(a, b, is_same_type), what);
  }

  // --- nodes ---

  // What a block makes is seen in it alone.
  void check(const Block& block) {
    const std::set<ValueId> outside = visible_;
    for (const ValueId argument : block.arguments) define(argument);
    for (const Node& node : block.nodes) check(node);
    for (const ValueId result : block.results) read(result);
    visible_ = outside;
  }

  void check(const Node& node) {
    for (const ValueId operand : node.operands) read(operand);
    if (node.kind == NodeKind::kCall) return check_calls(node);
    for (const Block& region : node.regions) check(region);
    if (node.kind == NodeKind::kWhile) check_loop(node);
    if (node.kind == NodeKind::kCase) check_branches(node);
    for (const ValueId result : node.results) define(result);
    if (node.kind == NodeKind::kCopy) {
      require(node.operands.size() == 1, "a copy has one operand");
      check_alike(node.operands, node.results, "a copy has the type of what is copied");
    }
    if (node.kind == NodeKind::kFill) {
      require(node.results.size() == 1 && node.fill && node.fill->is_splat && node.fill->type == type(node.results[0]),
              "a fill has one result, whose type is that of a literal of one element");
    }
  }

  void check_loop(const Node& loop) const {
    require(loop.regions.size() == 2, "a loop has a condition and a body");
    const Block& condition = loop.regions[0];
    const Block& body = loop.regions[1];
    for (const auto* carried : {&loop.results, &condition.arguments, &body.arguments, &body.results}) {
      check_alike(loop.operands, *carried, "a loop carries values of other types than it starts with");
    }
    require(condition.results.size() == 1 && type(condition.results[0]) == TensorType{DType::kI1, {}},
            "a loop's condition returns one tensor<i1>");
  }

  void check_branches(const Node& node) const {
    const bool is_tested = node.operands.size() == 1 && type(node.operands[0]).shape.empty() &&
                           (type(node.operands[0]).dtype == DType::kI1 || type(node.operands[0]).dtype == DType::kI32);
    require(is_tested, "a case tests one tensor<i1> or tensor<i32>");
    require(node.regions.size() == node.cases.size() + 1, "a case has one more region than numbers");
    for (const Block& region : node.regions) {
      require(region.arguments.empty(), "a branch has no arguments");
      check_alike(region.results, node.results, "a branch returns values of other types than its case gives");
    }
  }

  // --- kernels ---

  void check_calls(const Node& node) {
    std::set<ValueId> written;
    require(node.hoistable_calls >= 0 && node.hoistable_calls <= static_cast<int>(node.calls.size()),
            "more calls are hoistable than there are");
    for (const KernelCall& call : node.calls) check_call(call, written);
    for (const ValueId result : node.results)
      require(written.contains(result), name(result) + " is written by no call");
    for (const ValueId temporary : temporaries_of(node)) visible_.erase(temporary);
  }

  void check_call(const KernelCall& call, std::set<ValueId>& written) {
    require(call.kernel >= 0 && call.kernel < static_cast<int>(function_.kernels.size()),
            "there is no kernel of this number");
    const loops::Kernel& kernel = function_.kernels[call.kernel];
    const auto is_scratch = [](const loops::Buffer& buffer) { return buffer.role == loops::BufferRole::kScratch; };
    const auto buffers =
        static_cast<int64_t>(kernel.buffers.size()) - std::ranges::count_if(kernel.buffers, is_scratch);
    require(buffers == std::ssize(call.arguments), fmt::format("{} takes {} arguments", kernel.name, buffers));
    std::set<ValueId> touched;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const auto [value, access] = call.arguments[i];
      const loops::Buffer& buffer = kernel.buffers[i];
      const bool is_first = access != Access::kRead && written.insert(value).second;
      if (access == Access::kRead) read(value);
      if (is_first) define(value);
      const std::string what = fmt::format("argument {} of {}", i, kernel.name);
      require(touched.insert(value).second, what + " is another one of its arguments too");
      require((access == Access::kRead) == (buffer.role == loops::BufferRole::kInput),
              what + (access == Access::kRead ? " is read, but the kernel writes it"
                                              : " is written, but the kernel reads it"));
      require(type(value).bytes() == buffer.elements * info(buffer.dtype).bytes,
              what + " has another size than the kernel's buffer");
      require(access != Access::kUpdate || !is_first || buffer.may_alias >= 0, what + " updates nothing");
    }
  }

  const Function& function_;
  std::set<ValueId> made_, visible_;
};

}  // namespace

void verify(const Function& function) { Verifier(function).run(); }

}  // namespace ingot::lowered
