// Random well-typed programs over the whole op table: whatever executes programs must give the same for them.
#pragma once

#include <memory>
#include <vector>

#include "aot/graph/graph.h"
#include "aot/graph/tensor.h"

namespace ingot {

// What an argument is when the program is tried: a literal, so that the text of a program is all there is to know.
inline constexpr std::string_view kExampleAttr = "ingot.example";

struct RandomGraphOptions {
  int op_count_max = 12;       // recipes followed, each of which makes an op or a few
  int argument_count_max = 8;  // more only where an op asks for a type that nothing else has
  int64_t elements_max = 400;  // of a tensor
  double long_extents = 0.15;  // how many are above 8
};

// A module with one function @main; the same for the same seed everywhere, until an op or a sample of one is added.
// Element types, ranks 0 to 5 and extents (zeros, ones, powers of two and their neighbours,
// primes) are drawn so that values often fit each other; some arguments are state that a result replaces. On the
// examples most programs stay finite.
std::unique_ptr<Module> random_graph(uint64_t seed, const RandomGraphOptions& options = {});

// Few ops on tensors that are large enough for several tasks, and for templates that small ones never meet.
inline constexpr RandomGraphOptions kLargeTensors = {.op_count_max = 5, .elements_max = 12000, .long_extents = 0.8};

std::vector<RefTensor> examples(const Function& function);
void set_example(Function& function, int argument, const RefTensor& tensor);

}  // namespace ingot
