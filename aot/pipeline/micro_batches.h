// In how many parts the batch of an entry point is computed, so that memory limits are kept.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "aot/graph/graph.h"
#include "aot/passes/pass.h"
#include "aot/pipeline/memory_limit.h"

namespace ingot {

// As MicroBatches::count: as many parts as its memory limit needs.
inline constexpr int64_t kAutoMicroBatches = 0;
bool has_auto(const std::vector<MicroBatches>& asked);

// An Error names the first of `asked` that is for none of `entries`, that is given twice, or that is automatic without a
// limit in bytes that it could keep.
void check_micro_batches(const std::vector<MicroBatches>& asked, const std::vector<Function*>& entries,
                         const std::vector<MemoryLimit>& limits);

// How much longer each entry point takes, as a share of its time, for what runs again by this number of parts. Throws
// OverMemoryLimit where limits are not kept.
using TryParts = std::function<std::map<std::string, double>(const std::vector<MicroBatches>&)>;

// `asked` with numbers in the place of kAutoMicroBatches: 1 where limits are kept so, else the first of 2, 4, 8, ... by
// which they are kept and little runs again, or where there is none, the first by which they are kept. Where no number
// helps, the error of `try_parts` is passed on, and says why there is no larger one.
std::vector<MicroBatches> fewest_parts(const std::vector<MicroBatches>& asked, const std::vector<Function*>& entries,
                                       const TryParts& try_parts);

}  // namespace ingot
