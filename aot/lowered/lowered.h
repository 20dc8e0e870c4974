// A lowered function: which kernels run on which values, in which loops and branches. The third of the four forms: what
// `lower_function` makes of a function of the graph for one target, and all that a plan is made from.
//
//   // kernel 0
//   kernel dot lanes 1 tasks 2 (x: f32[64], w: f32[16], y: f32[16] out) {
//     ...
//   }
//
//   // kernel 1
//   kernel add lanes 1 tasks 1 (w: f32[16], y: f32[16], z: f32[16] out aliases w) {
//     ...
//   }
//
//   function train_step {
//     argument x: tensor<4x16xf32> input x
//     argument w: tensor<16xf32> state w
//     constant scale = dense<5.000000e-01> : tensor<16xf32>
//     call dot (kernel 0) reads x, w writes y: tensor<16xf32> temporary
//     then add (kernel 1) reads w, y writes z: tensor<16xf32>
//     copy scale to s
//     return s output scale, z state w
//   }
//
// Values are in static single assignment: each is an argument, a constant, or made by one node, and is read only below
// it in its block or in the blocks inside. State is an argument and the result of the same name that replaces it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "aot/graph/literal.h"
#include "aot/loops/loop.h"

namespace ingot::lowered {

using ValueId = int;  // index into Function::values
inline constexpr ValueId kNoValue = -1;

struct Value {
  std::string name;  // may be empty, and another value's too; a text makes names unique
  TensorType type;
};

enum class Access : uint8_t {
  kRead,
  kWrite,   // all of it
  kUpdate,  // some of it: over the value of the argument that the kernel's buffer aliases, both having one place, or
            // over what an earlier call of the node wrote
};

// What a buffer of a kernel is bound to.
struct Argument {
  ValueId value = kNoValue;
  Access access = Access::kRead;
};

struct KernelCall {
  int kernel = 0;                   // index into Function::kernels
  std::vector<Argument> arguments;  // one for each buffer of the kernel but scratch; none is read twice
};

enum class NodeKind : uint8_t {
  kCall,   // one kernel or several that run one after the other
  kCopy,   // makes another value with the bytes of its operand
  kFill,   // makes a value of one element everywhere
  kWhile,  // carries values through its regions, a condition and a body
  kCase,   // runs one of its regions: the one whose number its operand holds, else the last
};

struct Node;

struct Block {
  std::vector<ValueId> arguments;
  std::vector<Node> nodes;
  std::vector<ValueId> results;
};

struct Node {
  NodeKind kind = NodeKind::kCall;
  std::vector<ValueId> operands = {};  // kCopy: one. kWhile: what the carried values start with. kCase: one scalar
  std::vector<ValueId> results = {};
  std::vector<KernelCall> calls = {};  // kCall. What they write and is no result is a temporary of the node
  int graph_kernel = -1;               // kCall: which kernel of the graph's function it is, in its order; -1: of none.
                                       // For what tools tell people; no part of the text
  int hoistable_calls = 0;             // so many of the first write temporaries only, from what is the same in each
                                       // iteration of the loop around the node: once before the loop is enough
  LiteralRef fill = {};                // kFill
  std::vector<int> cases = {};         // kCase: the numbers of all regions but the last
  std::vector<Block> regions = {};     // kWhile: condition, which returns one i1, and body. kCase: without arguments
};

// What an argument or a result of a function is to those outside.
struct Port {
  std::string name;  // may be empty, unless it is a state's
  bool is_state = false;
};

struct Constant {
  ValueId value;
  LiteralRef literal;
};

struct Function {
  std::string name;
  std::vector<loops::Kernel> kernels;
  std::vector<Value> values;
  std::vector<Constant> constants;
  Block body;
  std::vector<Port> arguments;  // of the body's arguments
  std::vector<Port> results;    // of the body's results

  ValueId add_value(std::string value_name, TensorType type);
  const TensorType& type(ValueId value) const { return values[value].type; }
};

// --- questions -------------------------------------------------------------------------------------------------------

// What a node or a block reads and does not make, the regions inside it included: ascending, each once.
std::vector<ValueId> read_by(const Node& node);
std::vector<ValueId> read_by(const Block& block);

// The temporaries of a node, ascending.
std::vector<ValueId> temporaries_of(const Node& node);

// The value in whose place a result is made: what a kernel updates, what a loop carries; of others kNoValue.
ValueId predecessor(const Function& function, const Node& node, ValueId result);

// For each result of the function: the argument of the same state, or kNoValue.
std::vector<ValueId> replaced_state(const Function& function);

// --- the three joints of every form ----------------------------------------------------------------------------------
// print is deterministic; print(parse_function(text)) == text where print wrote it; verify throws a kBug error.
std::string print(const Function& function);
// One function with its kernels, verified. `file` is what errors say: every mistake is an Error at its line and column.
Function parse_function(std::string_view text, std::string file = "lowered");
void verify(const Function& function);

}  // namespace ingot::lowered
