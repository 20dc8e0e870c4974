// Loops, for ops that are made of such.
#pragma once

#include <functional>

#include "aot/graph/builder.h"

namespace ingot::ops {

// What `starts` become while `condition(b, carried)`, a scalar i1, is true: `body(b, carried)` gives their next values.
// The builders that these are given stand in the loop's regions.
using LoopCondition = std::function<Value*(GraphBuilder& b, const Values& carried)>;
using LoopBody = std::function<Values(GraphBuilder& b, const Values& carried)>;
Values while_loop(GraphBuilder& b, const Values& starts, const LoopCondition& condition, const LoopBody& body);

// What `starts` become in `count` iterations; `iteration` is a scalar i32, from 0 on.
using CountedBody = std::function<Values(GraphBuilder& b, Value* iteration, const Values& carried)>;
Values counted_loop(GraphBuilder& b, int64_t count, const Values& starts, const CountedBody& body);

}  // namespace ingot::ops
