// Scores that are made again where gradients read them, instead of being kept.
#pragma once

#include <utility>
#include <vector>

#include "aot/passes/chain/kernel_chain.h"

namespace ingot {

// Whether the large values that others read are worth making again for them: these could be a chain of their own, and
// scores are much larger than what they are made of.
bool should_repeat(const KernelChain& chain);

// Copies of kernels that make scores, or what is made of them.
struct RepeatedScores {
  Op* scores = nullptr;
  std::vector<Op*> copies;
  std::vector<std::pair<Value*, Value*>> pairs;  // an original, its copy

  void undo() const;
};

// Makes the chain's large outputs again right before their first reader outside, and has all those read the copies.
// Statistics of rows are kept. The chain is not to be used any more.
RepeatedScores repeat(KernelChain& chain);

}  // namespace ingot
