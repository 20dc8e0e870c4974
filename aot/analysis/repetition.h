// Repetitions: stretches of a block in which the same ops come again and again, as a loop of the program that was
// unrolled when it was traced.
#pragma once

#include <optional>
#include <vector>

#include "aot/graph/op.h"

namespace ingot {

// Windows of one tensor, each as far from the one before: in iteration i the elements from `start + i step` on.
struct MovingWindow {
  Value* source = nullptr;
  Shape start = {}, step = {}, sizes = {};
  // `source` has a row for what a loop hands on in each iteration; these are rows of what it was handed.
  bool is_before = false;
};

// What an operand of a repeated op is, iteration after iteration.
struct RepeatedOperand {
  enum class Kind : uint8_t {
    kOutside,  // the same value
    kWindow,   // a window, perhaps reshaped
    kWithin,   // made by the op at `position` of the same iteration,
    kCarried,  // of the one before
  };
  Kind kind = Kind::kOutside;
  Value* value = nullptr;
  MovingWindow window = {};
  int position = 0, result = 0;
};

struct RepeatedOp {
  Op* op = nullptr;  // in one of the iterations
  std::vector<RepeatedOperand> operands = {};
  std::optional<MovingWindow> window = {};  // of a slice, or of a padded operand: where it lies in each iteration
  bool is_invariant = false;                // the same in each iteration
  bool is_view = false;                     // shows a window of something from outside
};

// A value that an iteration hands to the next.
struct CarriedValue {
  int position = 0, result = 0;
  Value* start = nullptr;  // what the first iteration is handed; null: zeros
};

struct Repetition {
  std::vector<RepeatedOp> body;
  std::vector<CarriedValue> carried;
  // The results of each iteration's ops. An empty list: the last iteration does without, as nobody would read it.
  // The first does without the addition to a carried value that would be 0: its result is what would be added.
  std::vector<std::vector<Values>> made;
  std::vector<Op*> ops;  // all of them, one after the other in their block

  int64_t trips() const { return static_cast<int64_t>(made.size()); }
};

// The first repetition of a block, of at least `trips_min` iterations, each with an op that has loops of its own, something
// of a window that moves, and something handed on that follows from what it was handed.
std::optional<Repetition> find_repetition(const Block& block, int64_t trips_min);

}  // namespace ingot
