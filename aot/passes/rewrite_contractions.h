// What passes on products and convolutions share.
#pragma once

#include <functional>

#include "aot/graph/builder.h"

namespace ingot {

// Puts what `rewrite` makes in place of each dot_general and convolution, before which `b` then stands; null: it stays.
// Whether one changed; what nobody reads any more is gone.
bool rewrite_contractions(Module& module, const std::function<Value*(GraphBuilder& b, Op& op)>& rewrite);

}  // namespace ingot
