// Heads, which the kinds of attention share.
#pragma once

#include "aot/frontend/onnx/node_args.h"

namespace ingot::onnx {

Term split_heads(NodeArgs& n, Term x, int64_t heads);   // [b, t, heads d] as [b, heads, t, d]
Term join_heads(Term x);                                // [b, heads, t, d] as [b, t, heads d]
Term repeat_heads(NodeArgs& n, Term x, int64_t heads);  // each as often as makes so many
Term scores_of(Term q, Term k, double scale);           // q k^T scale of each head, in f32 at least

}  // namespace ingot::onnx
