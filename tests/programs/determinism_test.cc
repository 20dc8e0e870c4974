// The same program gives the same bundle, and the same bundle the same bits, with any number of threads.
#include <gtest/gtest.h>
#include <ingot/ingot.h>

#include "tests/support/device_run.h"
#include "tests/support/temporary_folder.h"

namespace ingot {
namespace {

// A network with kernels of every sort: convolution, pooling, normalisation over the batch and over rows, products,
// random numbers, and a scatter in which many rows meet (the gradient of the embedding).
struct Net : nn::Module {
  nn::Conv2d conv = add("conv", nn::Conv2d(3, 12, 3, {.padding = 1}));
  nn::BatchNorm2d batch_norm = add("batch_norm", nn::BatchNorm2d(12));
  nn::Linear image_out = add("image_out", nn::Linear(12 * 6 * 6, 40));
  nn::Embedding words = add("words", nn::Embedding(9, 40));
  nn::LayerNorm layer_norm = add("layer_norm", nn::LayerNorm(40));
  nn::Linear out = add("out", nn::Linear(40, 10));

  Tensor forward(const Tensor& images) override {
    return image_out(max_pool2d(relu(batch_norm(conv(images))), 2).flatten(1));
  }
  Tensor logits(const Tensor& images, const Tensor& text) {
    return out(dropout(gelu(layer_norm(forward(images) + mean(words(text), 1))), 0.1));
  }
};

TEST(Determinism, SameProgramSameBundleSameBits) {
  Net net;
  optim::AdamW adam(net.parameters());
  Program program;
  program.add(
      "train_step",
      [&](Tensor images, Tensor text, Tensor labels) {
        Tensor loss = cross_entropy(net.logits(images, text), labels);
        loss.backward();
        Tensor norm = optim::clip_grad_norm_(net.parameters(), 1.0);
        adam.step();
        return Outputs{{"loss", loss}, {"norm", norm}};
      },
      f32[{17, 3, 12, 12}].named("images"), i32[{17, 30}].named("text"), i32[{17}].named("labels"));

  const Compiled compiled = compile(program);
  EXPECT_EQ(bundle::write_bundle(compiled.spec), bundle::write_bundle(compile(program).spec));

  const TemporaryFolder folder;
  const std::string path = folder.file("net.ingot");
  compiled.write(path);
  const DeviceRun first = train_on_device(path, "", 5, 1);
  EXPECT_LT(first.scalars[4].at("loss"), first.scalars[0].at("loss"));
  for (const uint32_t threads : {1, 2, 3, 4}) {
    EXPECT_TRUE(train_on_device(path, "", 5, threads) == first) << threads << " threads";
  }
}

}  // namespace
}  // namespace ingot
