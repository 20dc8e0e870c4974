// Adam and AdamW whose moments take 8 bits an element.
#pragma once

#include "aot/optim/adam.h"

namespace ingot::optim {

struct Adam8bitOptions {
  Tensor lr = 1e-3;
  std::array<Tensor, 2> betas = {0.9, 0.999};
  Tensor eps = 1e-8;
  Tensor weight_decay = 0;
};

// Adam's moments as block_codes.h has them: 2 + 8/256 bytes an element instead of 8. exp_avg and exp_avg_sq are the codes,
// of the parameter's shape, exp_avg_scale and exp_avg_sq_scale the blocks' scales. A step moves the weight by the
// moments before they are rounded, in f32. Parameters of fewer than 4096 elements, of f64, and those without blocks of at
// least 64 have Adam's own slots.
class Adam8bit : public Adam {
 public:
  explicit Adam8bit(std::vector<Tensor> parameters, const Adam8bitOptions& options = {});

 private:
  void update(Tensor parameter, const Tensor& gradient, const Tensor& lr) override;
};

struct AdamW8bitOptions {
  Tensor lr = 1e-3;
  std::array<Tensor, 2> betas = {0.9, 0.999};
  Tensor eps = 1e-8;
  Tensor weight_decay = 1e-2;
};

class AdamW8bit : public Adam8bit {
 public:
  explicit AdamW8bit(std::vector<Tensor> parameters, const AdamW8bitOptions& options = {});
};

}  // namespace ingot::optim
