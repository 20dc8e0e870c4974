// What a program must give: its evaluation, and how far from it the rounding of its ops may lead.
#pragma once

#include <string>
#include <vector>

#include "aot/graph/graph.h"
#include "aot/graph/tensor.h"
#include "tests/support/random_tensor.h"

namespace ingot {

// The function is evaluated a few times more, and every op's results are moved at random by what compiled code may err
// (OpDef::ulp), or by a unit where it rounds as evaluation does. How far an element moves then says how far it may be
// from the evaluation. An integer or a truth value that moves follows from a comparison or a conversion of floats that
// rounding decides, an element that becomes infinite or NaN from a pole: neither is judged. Known as Monte Carlo
// arithmetic (Parker, "Monte Carlo arithmetic", 1997).
class Reference {
 public:
  Reference(const Function& function, std::vector<RefTensor> arguments);

  const std::vector<RefTensor>& results() const { return results_; }
  // What is wrong with `actual`; "" if nothing is. Before it complains it looks at many more evaluations.
  std::string disagreement(const std::vector<RefTensor>& actual);
  // The share of the elements that are judged.
  int64_t judged_elements() const;
  int64_t elements() const;

 private:
  void move(int evaluations, double amplitude);

  const Function& function_;
  std::vector<RefTensor> arguments_;
  Random random_{1};
  std::vector<RefTensor> results_;
  std::vector<std::vector<double>> reach_;  // how far each element moved; infinite: it is not judged
};

}  // namespace ingot
