#include "apps/ingot/training_arguments.h"

#include <fmt/format.h>

#include "aot/base/error.h"
#include "aot/finetune/training_loss.h"

namespace ingot {
namespace {

// LOSS[:TARGET[:OUTPUT]]
TrainingOptions parsed(const TrainingArguments& arguments) {
  TrainingOptions options = arguments.options;
  std::string* const parts[] = {&options.loss, &options.target, &options.output};
  std::string_view rest = arguments.train;
  for (std::string* part : parts) {
    const size_t colon = part == &options.output ? rest.npos : rest.find(':');
    if (!rest.empty()) *part = rest.substr(0, colon);
    rest = colon == rest.npos ? "" : rest.substr(colon + 1);
  }
  return options;
}

std::string losses_help() {
  std::string text =
      "LOSS[:TARGET[:OUTPUT]]: entries train_step and evaluate beside the model's own, by this loss of the "
      "model's (first) output and an input TARGET (target). Losses, and what TARGET is:";
  for (const TrainingLoss& loss : training_losses()) text += fmt::format(" {}: {};", loss.name, loss.help);
  text.pop_back();
  return text;
}

}  // namespace

std::vector<Option> training_options(TrainingArguments& arguments) {
  TrainingOptions& o = arguments.options;
  return {
      {"--train", &arguments.train, losses_help()},
      {"--optimizer", &o.optimizer, "what --train updates weights by", {.choices = optimizer_names()}},
      {"--trainable", &o.trainable, "patterns of weights' names that --train updates; others stay", {.commas = true}},
      {"--lr", &o.lr, "what the input lr of train_step is unless it is given (default: PyTorch's)"},
      {"--weight-decay", &o.weight_decay, "of the optimizer (default: PyTorch's)"},
      {"--momentum", &o.momentum, "of sgd and rmsprop (default: 0)"},
  };
}

void check_training(const TrainingArguments& arguments) {
  const TrainingOptions& o = arguments.options;
  const TrainingOptions untouched;
  const bool is_touched =
      o.optimizer != untouched.optimizer || o.trainable != untouched.trainable || o.lr || o.weight_decay || o.momentum;
  if (arguments.is_given() || !is_touched) return;
  throw_error(nullptr, "--optimizer, --trainable, --lr, --weight-decay and --momentum are of --train LOSS:TARGET");
}

Program trained(std::vector<std::unique_ptr<Module>> modules, const TrainingArguments& arguments,
                std::vector<GivenShape>& shapes) {
  if (modules.size() != 1) {
    throw_error(nullptr, fmt::format("--train wants one program, the model; here are {}", modules.size()));
  }
  const ImportedModel model(std::move(modules.front()), &shapes);
  return make_training_program(model, parsed(arguments));
}

}  // namespace ingot
