// Which ops share a kernel. Groups are found from the last op to the first: an op goes into the group that reads it, or
// into several when that is cheap, or becomes a value in memory that a group writes.
#pragma once

#include <set>
#include <unordered_map>

#include "aot/passes/fuse/fuse_access.h"
#include "aot/passes/pass.h"

namespace ingot::fusion {

// A kernel of more ops than this gains nothing, and takes long to compile.
inline constexpr size_t kOpsMax = 500;

enum class GroupKind : uint8_t {
  kElementwise,  // every output follows the space, or is an update whose window does
  kContraction,  // `root` is a dot_general or convolution; everything after it follows its result
  kRows,         // reductions over the last dimensions; a row stays at hand, so its points may read them
  kColumns,      // reductions over other dimensions; only values of their results' shape may read them
  kAlone,        // `root` is something else: window, scatter, ...
  kBoundary,     // an op that is no kernel: return, control flow, custom call
};

struct Group {
  GroupKind kind;
  Space space;
  const Op* root = nullptr;
  std::set<int> members;                           // indices of ops, in program order
  std::set<int> outputs;                           // members whose results are read by other groups
  std::unordered_map<const Value*, Access> reads;  // everything that members read, members' results included
  std::set<int> successors;                        // groups that read an output
  bool is_merged_away = false;
};

struct Partition {
  const loops::Machine* machine = nullptr;
  bool is_in_loop = false;
  std::vector<Op*> ops;                      // of the block, in program order
  std::unordered_map<const Op*, int> index;  // of an op in `ops`
  std::vector<bool> feeds_copies;            // of `ops`: see starts_recomputation
  std::vector<Group> groups;

  // A path of one or more steps leads from one group to the other.
  bool reaches(int from, int to) const;
};

Partition partition(Block& block, PassContext& context);

// Each op in a group of its own; only what is free stands where it is read.
Partition partition_apart(Block& block, PassContext& context);

// Op `i` makes a value that is kept, for others too, so that the group can compute more again from it, later.
bool starts_recomputation(const Partition& p, int i, const Group& g);

// Joins groups that visit the same space: independent ones that read a value in common, and a writer with its reader.
void merge_groups(Partition& partition);

}  // namespace ingot::fusion
