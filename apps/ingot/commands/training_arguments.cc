#include "apps/ingot/commands/training_arguments.h"

#include <fmt/format.h>

#include <charconv>

#include "aot/base/error.h"
#include "aot/finetune/training_loss.h"

namespace ingot {
namespace {

std::vector<std::string> at_commas(std::string_view text) {
  std::vector<std::string> parts;
  for (size_t comma = 0; comma != text.npos; text.remove_prefix(comma == text.npos ? 0 : comma + 1)) {
    comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
  }
  return parts;
}

// rank=RANK[,alpha=ALPHA]:PATTERN[,PATTERN...]
LoraOptions parsed_lora(const std::string& text) {
  const auto refuse = [&](const std::string& what) {
    throw_error(nullptr, fmt::format("--lora {}: {}; it is rank=RANK[,alpha=ALPHA]:PATTERN[,PATTERN...], as "
                                     "rank=8:'*.q_proj'",
                                     text, what));
  };
  const size_t colon = text.find(':');
  if (colon == text.npos) refuse("names no products");
  LoraOptions options;
  for (const std::string& setting : at_commas(std::string_view(text).substr(0, colon))) {
    const size_t value = setting.find('=') + 1;
    const char* const end = setting.data() + setting.size();
    const auto is_number = [&](auto& number) {
      const auto [rest, error] = std::from_chars(setting.data() + value, end, number);
      return error == std::errc() && rest == end;
    };
    const bool is_known = (setting.starts_with("rank=") && is_number(options.rank)) ||
                          (setting.starts_with("alpha=") && is_number(options.alpha.emplace()));
    if (!is_known) refuse(fmt::format("'{}' is neither rank=RANK nor alpha=ALPHA", setting));
  }
  if (options.rank == 0) refuse("has no rank above 0");
  options.patterns = at_commas(std::string_view(text).substr(colon + 1));
  return options;
}

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
  for (const std::string& text : arguments.lora) options.lora.push_back(parsed_lora(text));
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
      {"--trainable",
       &o.trainable,
       "patterns of weights' names that --train updates; others stay (default: all or, with --lora, none)",
       {.commas = true}},
      {"--lora", &arguments.lora,
       "rank=RANK[,alpha=ALPHA]:PATTERN[,PATTERN...]: what --train updates are two thin matrices beside each product "
       "by a "
       "weight that stays as it is, of which a pattern fits the name or that of its node; alpha is the rank unless it "
       "is "
       "given. May be given for several ranks"},
      {"--lr", &o.lr, "what the input lr of train_step is unless it is given (default: PyTorch's)"},
      {"--weight-decay", &o.weight_decay, "of the optimizer (default: PyTorch's)"},
      {"--momentum", &o.momentum, "of sgd and rmsprop (default: 0)"},
  };
}

void check_training(const TrainingArguments& arguments) {
  const TrainingOptions& o = arguments.options;
  const TrainingOptions untouched;
  const bool is_touched = o.optimizer != untouched.optimizer || o.trainable != untouched.trainable || o.lr ||
                          o.weight_decay || o.momentum || !arguments.lora.empty();
  if (arguments.is_given() || !is_touched) return;
  throw_error(nullptr,
              "--optimizer, --trainable, --lora, --lr, --weight-decay and --momentum are of --train LOSS:TARGET");
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
