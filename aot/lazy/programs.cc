#include "aot/lazy/programs.h"

#include <algorithm>

#include "aot/graph/equal.h"

namespace ingot::lazy {
namespace {

// Notes what differs from what was compiled. Whether anything does that is not an input.
bool note_differences(const Recording& recording, const Recording& known, Varying& varying) {
  bool differs = false;
  for (size_t i = 0; i < varying.size(); ++i) {
    if (varying[i] || *recording.numbers[i] == *known.numbers[i]) continue;
    varying[i] = true;
    differs = true;
  }
  return differs;
}

}  // namespace

Programs::Program* Programs::find(const Recording& recording) {
  const auto found = std::ranges::find_if(programs_, [&](const Program& program) {
    return program.recording.hash == recording.hash && equal(*program.recording.module, *recording.module);
  });
  if (found == programs_.end()) return nullptr;
  programs_.splice(programs_.begin(), programs_, found);
  return &programs_.front();
}

Programs::Program& Programs::compiled(Recording& recording) {
  Program* known = find(recording);
  Varying varying = known ? known->varying : Varying(recording.numbers.size());
  if (known && !note_differences(recording, known->recording, varying)) {
    metrics_.count(Metrics::kCached);
    return *known;
  }
  metrics_.count(Metrics::kUncached);
  auto executable = metrics_.timed(Metrics::kCompile, [&] {
    return std::make_unique<Executable>(with_numbers(recording, varying), target_, threads_);
  });
  if (known) programs_.pop_front();
  programs_.push_front({{std::move(recording.module), recording.numbers, {}, recording.hash},
                        std::move(varying),
                        std::move(executable)});
  if (programs_.size() > kProgramsMax) programs_.pop_back();
  return programs_.front();
}

std::vector<MemoryRef> Programs::run(Recording recording) {
  const Program& program = compiled(recording);
  return metrics_.timed(Metrics::kExecute,
                        [&] { return program.executable->run(inputs_of(recording, program.varying)); });
}

}  // namespace ingot::lazy
