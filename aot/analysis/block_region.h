// One block of what a kernel computes: the same region on parts of its operands.
//
// The results are cut along axes (a batch, the rows of a matrix), each result in some of its dimensions. From the parts
// of the results that a block is, the region is walked to its operands: which part of each value does that need? Where
// every op can say, the block is a kernel of its own, and how large the intermediate results are is a matter of the block.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aot/graph/graph.h"

namespace ingot {

// How the results of an ingot.kernel are cut.
struct KernelBlocks {
  struct Axis {
    int64_t extent, block;  // the block divides the extent
    bool operator==(const Axis&) const = default;
  };
  std::vector<Axis> axes;
  std::vector<std::vector<int>> result_axes;  // of each dimension of each result; -1: a block has all of it

  int64_t count() const;  // of blocks
};

// Of an op in the region of such a kernel: the number of the stage that writes its result for later ones. What no stage
// writes is computed where it is read.
inline constexpr const char* kStage = "ingot.stage";

// As the kernel's attributes say; nullopt where it is not cut.
std::optional<KernelBlocks> blocks_of(const Op& kernel);
void set_blocks(Op& kernel, const KernelBlocks& blocks);

// Of a block whose first element along the axis is i: i / divisor % modulus * factor (modulus 0: of everything).
struct BlockStart {
  int axis = 0;
  int64_t divisor = 1, modulus = 0, factor = 1;
  bool operator==(const BlockStart&) const = default;
};
using BlockStarts = std::vector<BlockStart>;  // what they add up to

struct BlockRegion {
  enum class Role : uint8_t {
    kOperand,  // an operand of the kernel from the first element on that the block reads: its part where that lies in
               // line, else as the whole kernel has it
    kWhole,    // a result of the kernel, over which the block's own result writes its part
    kStart,    // a scalar of i64: the sum of the starts
  };
  struct Argument {
    Role role;
    int index;           // of the operand or result
    BlockStarts starts;  // in elements
  };
  Block block;  // the arguments, and the kernel of one block
  Op* kernel = nullptr;
  std::vector<Argument> arguments;
  std::vector<BlockStarts> results;  // where the block's result begins in the kernel's
};

// Null, and `why` (where it is asked for) says what is in the way.
std::unique_ptr<BlockRegion> block_region(const Op& kernel, const KernelBlocks& blocks, std::string* why = nullptr);

}  // namespace ingot
