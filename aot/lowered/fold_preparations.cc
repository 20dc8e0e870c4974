#include "aot/lowered/fold_preparations.h"

#include <algorithm>
#include <map>

#include "aot/loops/expand_math.h"
#include "aot/loops/interpret.h"

namespace ingot::lowered {
namespace {

using Bytes = std::vector<std::byte>;

class Folding {
 public:
  Folding(Function& function, const std::function<bool(const Node&)>& worth) : function_(function), worth_(worth) {
    for (const Constant& constant : function.constants) literals_.emplace(constant.value, constant.literal);
  }

  void run() {
    fold(function_.body);
    const std::vector<ValueId> read = read_by(function_.body);
    std::erase_if(function_.constants,
                  [&](const Constant& constant) { return !std::ranges::binary_search(read, constant.value); });
  }

 private:
  void fold(Block& block) {
    for (Node& node : block.nodes) {
      for (Block& region : node.regions) fold(region);
      while (node.hoistable_calls > 0 && reads_constants(node.calls.front())) {
        evaluate(node.calls.front());
        node.calls.erase(node.calls.begin());
        --node.hoistable_calls;
      }
    }
    std::erase_if(block.nodes, [&](const Node& node) { return folded_whole(node); });
  }

  bool folded_whole(const Node& node) {
    if (!makes_constants(node) || !worth_(node)) return false;
    for (const KernelCall& call : node.calls) evaluate(call);
    return true;
  }

  bool makes_constants(const Node& node) const {
    const auto updates = [](const KernelCall& call) {
      return std::ranges::find(call.arguments, Access::kUpdate, &Argument::access) != call.arguments.end();
    };
    const auto is_constant = [&](ValueId value) { return literals_.contains(value); };
    return node.kind == NodeKind::kCall && std::ranges::all_of(read_by(node), is_constant) &&
           std::ranges::none_of(node.calls, updates);
  }

  bool reads_constants(const KernelCall& call) const {
    return std::ranges::all_of(call.arguments, [&](const Argument& argument) {
      return argument.access == Access::kWrite ||
             (argument.access == Access::kRead && literals_.contains(argument.value));
    });
  }

  void evaluate(const KernelCall& call) {
    std::vector<Bytes> memory;
    for (const Argument& argument : call.arguments) {
      const bool is_read = argument.access == Access::kRead;
      memory.push_back(is_read ? literals_.at(argument.value)->dense_bytes() : Bytes(bytes_of(argument.value)));
    }
    std::vector<std::byte*> buffers;
    for (Bytes& bytes : memory) buffers.push_back(bytes.data());
    loops::Kernel kernel = function_.kernels[call.kernel];
    loops::expand_math(kernel);  // what machine code would give, bit for bit
    loops::interpret_all(kernel, buffers);
    for (size_t i = 0; i < memory.size(); ++i) {
      const ValueId value = call.arguments[i].value;
      if (call.arguments[i].access == Access::kRead) continue;
      const LiteralRef literal = dense(function_.type(value), std::move(memory[i]));
      literals_.emplace(value, literal);
      function_.constants.push_back({value, literal});
    }
  }

  size_t bytes_of(ValueId value) const { return static_cast<size_t>(function_.type(value).bytes()); }

  Function& function_;
  const std::function<bool(const Node&)>& worth_;
  std::map<ValueId, LiteralRef> literals_;
};

}  // namespace

void fold_preparations(Function& function, const std::function<bool(const Node&)>& worth) {
  Folding(function, worth).run();
  verify(function);
}

}  // namespace ingot::lowered
