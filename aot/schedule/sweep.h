// A sweep: every element of a shape once, a vector at a time along the innermost dimension, split into tasks.
#pragma once

#include <map>
#include <set>

#include "aot/schedule/step.h"

namespace ingot::schedule {

// What the index space of a step looks like.
struct SweepSpace {
  Shape shape;
  // So many of the innermost dimensions longer than 1 may be walked as one: the index then runs past its extent in the
  // last of them and is 0 in the others, which is right for whatever only flattens it.
  int merged = 1;
  // A dimension that some operand has innermost (-1: none). It is walked in short blocks inside the vector dimension,
  // so that strided reads use their cache lines whole.
  int strided_dim = -1;
  bool is_moved = false;  // ... and what is made is only moved: in squares of vectors along both
  // A dimension along which pieces are joined (-1: none), and where each but the first begins: it is walked piece by
  // piece, so that none is asked which it is. Or the dimension has elements of all, in order.
  int joint_dim = -1;
  std::set<int64_t> joint_bounds = {};
  // Dimensions in which pieces take turns, and how many: neighbours are walked one after the other, each by itself, so
  // that none is asked whose turn it is.
  std::map<int, int64_t> turns = {};
  // Dimensions in which so many neighbours are made of the same elements: the body is called once for all of them, at the
  // first, and bounds what is past the end.
  std::map<int, int64_t> together = {};
};

// The space in which `values`, all of one shape, can be made. `provided` values answer at any index.
SweepSpace sweep_space(const Draft& draft, const Values& values, const Values& provided = {});

// Adds to the space the dimensions along which neighbours are made together (SweepSpace::together).
void find_together(const Draft& draft, const Values& values, SweepSpace& space);

// The places that a body makes when it is called at the first of them.
std::vector<SweepPlace> places_together(loops::KernelBuilder& b, const SweepSpace& space,
                                        const std::vector<loops::Index>& first, const loops::Expr& mask);

// Makes the element at an index, or the vector of elements that a mask leaves.
using SweepBody = std::function<void(const std::vector<loops::Index>& index, const loops::Expr& mask)>;

// Asks for what a run of so many elements, the first at `index`, will read.
using SweepAhead = std::function<void(const std::vector<loops::Index>& index, int64_t elements)>;

// Calls `body` for every element; `wanted` tasks at most, roughly. Sets the step's task count. Where whole runs are walked
// one after the other, `ahead` (null: none) is called beside each for one that follows.
void sweep(Step& step, const SweepSpace& space, int64_t wanted, const SweepBody& body,
           const SweepAhead& ahead = nullptr);

// Innermost dimensions longer than 1 of the value that may be walked as one when it is pulled.
int merged_dims(const Draft& draft, const Value* value, const Values& provided = {});

}  // namespace ingot::schedule
