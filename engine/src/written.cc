#include "engine/src/written.h"

namespace ingot::engine {

void Written::add(uint32_t place, const Extent& bytes) {
  Extent& written = places_[place].bytes;
  if (written.contains(bytes)) return;
  const Extent grown = written.end == 0 ? bytes : hull(written, bytes);
  if (grown.bytes() > written.bytes() + bytes.bytes()) return;  // a gap between them
  if (log_) log_[change_count_++] = {written, place, 0};
  written = grown;
}

void Written::forget(uint32_t mark) {
  while (change_count_ > mark) {
    const WrittenChange& change = log_[--change_count_];
    places_[change.place].bytes = change.bytes;
  }
}

void Written::set_aside(uint32_t mark, uint32_t branch) {
  for (uint32_t i = change_count_; i-- > mark;) {
    WrittenChange& change = log_[i];
    const Extent before = change.bytes;
    change.bytes = places_[change.place].bytes;
    change.branch = branch;
    places_[change.place].bytes = before;
  }
}

void Written::merge(uint32_t mark, uint32_t last_branch) {
  // From the last change back: in each branch, a place's first that we meet tells all that the branch wrote of it. It
  // cuts down what the last branch wrote, and takes its number along as far as no branch is missing.
  for (uint32_t i = change_count_; i-- > mark;) {
    const WrittenChange& change = log_[i];
    uint32_t& latest = places_[change.place].latest;
    if (change.branch == last_branch) {
      if (latest == 0) latest = i + 1;
    } else if (latest != 0 && log_[latest - 1].branch == change.branch + 1) {
      log_[latest - 1].bytes = intersection(log_[latest - 1].bytes, change.bytes);
      log_[latest - 1].branch = change.branch;
    }
  }
  const uint32_t end = change_count_;
  change_count_ = mark;
  for (uint32_t i = mark; i < end; ++i) {
    const WrittenChange change = log_[i];
    if (places_[change.place].latest != i + 1) continue;
    places_[change.place].latest = 0;
    if (change.branch == 0 && change.bytes.begin < change.bytes.end) add(change.place, change.bytes);
  }
}

}  // namespace ingot::engine
