// Where each kernel of an entry point stands beside what the machine can do, and what bounds it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "aot/bundle/bundle.h"
#include "apps/ingot/measurements/machine_peaks.h"
#include "apps/ingot/measurements/step_times.h"

namespace ingot {

// A call of a kernel of the program: the steps that it takes, in one run.
struct CallTime {
  bundle::Call call;
  std::vector<uint32_t> steps;  // as in the plan's text
  uint64_t rounds = 0;          // more than one in a loop
  uint64_t times = 1;           // of a round: more than one where it runs again for a memory limit
  uint32_t tasks = 0;           // of the step that has most
  double ms = 0;                // of all rounds

  double attainable_ms = 0;  // by the roof
  std::string bound;         // likewise

  double flops() const { return static_cast<double>(call.flops * rounds * times); }
  double bytes() const { return static_cast<double>((call.read_bytes + call.written_bytes) * rounds * times); }
  double gflops_per_second() const { return flops() / ms * 1e-6; }
  double gb_per_second() const { return bytes() / ms * 1e-6; }
  double attained_percent() const { return 100 * attainable_ms / ms; }
};

// Bytes of a level of memory that are in use, each counted once: those that are only read, and those that are written.
// What is written is fetched first, so that it makes no difference whether it is read too.
struct Moved {
  double read_bytes = 0, written_bytes = 0;
};

struct Work {
  double flops = 0;
  ingot_dtype dtype = INGOT_F32;
  std::vector<Moved> levels;  // as MachinePeaks::levels
  double steps = 0;
};

// The least time that a machine needs, and for what: "compute", "overhead", or the level of memory that takes longest.
struct Roof {
  double ms = 0;
  std::string bound;
};

// Compute, memory and steps that do nothing overlap: the longest of their three times.
Roof roof_of(const Work& work, const MachinePeaks& peaks);

// Of MachinePeaks::levels: the nearest that holds so many bytes.
size_t level_that_holds(uint64_t bytes, const MachinePeaks& peaks);

// The calls of a plan by the times of its steps; the longest first.
//
// An operand comes from the nearest level that holds all that was touched since it was touched last, in this run or the
// one before; loops are taken as going round once.
std::vector<CallTime> call_times(const bundle::Plan& plan, const bundle::Target& target,
                                 std::span<const StepTime> times, const MachinePeaks& peaks);

// Sums of the calls of one name, or of one bound.
struct CallSum {
  std::string name;
  uint64_t calls = 0;
  double ms = 0, attainable_ms = 0, flops = 0, bytes = 0;
};
std::vector<CallSum> sums_by_name(std::span<const CallTime> calls);   // the longest first
std::vector<CallSum> sums_by_bound(std::span<const CallTime> calls);  // likewise
CallSum sum_of(std::span<const CallTime> calls);

// Both axes logarithmic: the machine's roofs, and a point for each name, as large as its share of the time.
std::string roofline_svg(const std::string& title, std::span<const CallTime> calls, const MachinePeaks& peaks);

}  // namespace ingot
