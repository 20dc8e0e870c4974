// The graph: a module of functions over tensors, in static single assignment. Its text is StableHLO.
//
// Everything is functional: an op's results depend on its operands and attributes alone, and nothing is in place.
// State is a function argument and the result that replaces it: both carry {ingot.state = "name"}; every read of the
// argument is the old value, wherever it stands.
//
//   Module ── Function ── Block ── Op ── Value (results)
//                            │      └── Block (regions of reduce, scatter, ingot.kernel, ...)
//                            └── Value (arguments)
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "aot/graph/attr.h"

namespace ingot {

struct OpDef;
struct Op;
struct Block;
struct Function;
struct Module;

// One tensor: an op's result or a block's argument.
struct Value {
  struct Use {
    Op* op;
    int operand_index;
    bool operator==(const Use&) const = default;
  };

  TensorType type;
  std::string name;        // without '%'; unique within a function when printed
  Op* op = nullptr;        // the op that makes it, or null for a block argument
  Block* block = nullptr;  // the block whose argument it is, or null
  int index = 0;           // among the op's results or the block's arguments
  Location location;
  std::vector<Use> uses;  // Invariant: exactly the operand slots that hold this value, kept by Op
};
using Values = std::vector<Value*>;

struct Op {
  const OpDef* def = nullptr;
  Values operands;  // Change through set_operand, so that uses stay true.
  std::vector<std::unique_ptr<Value>> results;
  AttrMap attr_map;
  std::vector<std::unique_ptr<Block>> regions;  // every region is one block
  Location location;
  Block* block = nullptr;                         // where it stands
  std::list<std::unique_ptr<Op>>::iterator self;  // its place in block->ops

  Op() = default;
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
  ~Op();

  std::string_view name() const;
  bool is(const OpDef& kind) const { return def == &kind; }
  Attrs attrs() const { return Attrs(attr_map, name(), location); }
  Value* result(int i = 0) const { return results[i].get(); }
  Value* operand(int i) const { return operands[i]; }
  Block& region(int i = 0) const { return *regions[i]; }
  void set_operand(int i, Value* value);
  void add_operand(Value* value);
  bool has_uses() const;
};

// A list of ops with arguments; the last op is the terminator (func.return, stablehlo.return, ingot.yield), whose
// operands are the block's results.
struct Block {
  std::vector<std::unique_ptr<Value>> arguments;
  std::list<std::unique_ptr<Op>> ops;
  Op* parent_op = nullptr;              // the op whose region it is, or null
  Function* parent_function = nullptr;  // the function whose body it is, or null

  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();

  Value* argument(int i) const { return arguments[i].get(); }
  Value* add_argument(TensorType type, std::string name = "", Location location = nullptr);
  Op* terminator() const { return ops.back().get(); }
};

struct FunctionResult {
  TensorType type;
  AttrMap attrs;
};

struct Function {
  std::string name;
  bool is_private = false;
  Block body;
  std::vector<AttrMap> argument_attrs;  // Invariant: one for each argument of body
  std::vector<FunctionResult> results;
  AttrMap attrs;
  Location location;
  Module* module = nullptr;

  int argument_count() const { return static_cast<int>(body.arguments.size()); }
};

struct Module {
  std::string name;
  AttrMap attrs;
  std::vector<std::unique_ptr<Function>> functions;
  Location location;

  Function* find(std::string_view function_name) const;  // null when there is none
  Function* add_function(std::string function_name);
};

// Unlinks and destroys an op that has no uses.
void erase(Op* op);

// Every use of `from` becomes a use of `to`.
void replace_all_uses(Value* from, Value* to);

// The function and the module in which an op or a block stands.
Function* function_of(const Block* block);
Module* module_of(const Op* op);

// Copies ops of `from` to the end of `to` (without the terminator when `with_terminator` is false). `map` gives the new
// value of every outside value and argument that changes, and receives those of the copied ops.
using ValueMap = std::map<const Value*, Value*>;
Op* copy_op(const Op& from, Block& to, ValueMap& map);
void copy_ops(const Block& from, Block& to, ValueMap& map, bool with_terminator = true);
std::unique_ptr<Block> copy_block(const Block& from, ValueMap& map);
std::unique_ptr<Module> copy_module(const Module& from);

// Values from outside that a block (or its inner regions) reads, in the order of first use.
Values captured_values(const Block& block);

}  // namespace ingot
