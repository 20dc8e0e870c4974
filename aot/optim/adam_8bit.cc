#include "aot/optim/adam_8bit.h"

#include "aot/optim/block_codes.h"

namespace ingot::optim {

Adam8bit::Adam8bit(std::vector<Tensor> parameters, const Adam8bitOptions& o)
    : Adam(std::move(parameters), {o.lr, o.betas, o.eps, o.weight_decay}) {}

void Adam8bit::update(Tensor parameter, const Tensor& gradient, const Tensor& lr) {
  const int64_t block = block_elements(parameter.type());
  if (block == 0) return Adam::update(parameter, gradient, lr);
  const Dims blocks = {parameter.numel() / block, block};
  const auto in_blocks = [&](const Tensor& x) { return reshape(to(x, DType::kF32), blocks); };
  const auto [weight, g] = decayed(in_blocks(parameter), in_blocks(gradient), lr);

  const auto next = [&](const std::string& name, const CodeFormat& format, auto&& next_moment) {
    Tensor codes = slot(parameter, name, {DType::kUI8, parameter.shape()});
    Tensor scales = slot(parameter, name + "_scale", {DType::kF32, {blocks[0]}});
    const Tensor moment = next_moment(decode({reshape(codes, blocks), scales}, format));
    const Coded coded = encode(moment, format, steps());
    codes.copy_(reshape(coded.codes, parameter.shape()));
    scales.copy_(coded.scales);
    return moment;
  };
  const Tensor m = next("exp_avg", kMeanCodes, [&](const Tensor& mean) { return next_mean(mean, g); });
  const Tensor v = next("exp_avg_sq", kSquareCodes, [&](const Tensor& square) { return next_square(square, g); });
  parameter.copy_(to(reshape(moved(weight, m, v, lr), parameter.shape()), parameter.dtype()));
}

AdamW8bit::AdamW8bit(std::vector<Tensor> parameters, const AdamW8bitOptions& o)
    : Adam8bit(std::move(parameters), {o.lr, o.betas, o.eps, o.weight_decay}) {
  options.decoupled_weight_decay = true;
}

}  // namespace ingot::optim
