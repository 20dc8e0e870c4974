// ingot export: trained weights back into the ONNX model that they came from.
#include <fmt/format.h>

#include <algorithm>

#include "aot/base/error.h"
#include "aot/base/file.h"
#include "aot/base/join.h"
#include "aot/base/safetensors.h"
#include "aot/finetune/merge_lora.h"
#include "aot/frontend/onnx/export_weights.h"
#include "aot/frontend/onnx/import.h"
#include "apps/ingot/command.h"
#include "apps/ingot/files/file_format.h"

namespace ingot {
namespace {

struct ExportCommand {
  std::string model, state, output;
};

// What training keeps beside the weights.
bool is_of_training(const std::string& name) { return name.starts_with("optimizer.") || name.starts_with("rng."); }

void run_export(const ExportCommand& command) {
  refuse_other_formats(command.state, Wanted::kTensors);
  const SafeTensors state = SafeTensors::read(command.state);
  const onnx::Initializers initializers = onnx::read_initializers(command.model);
  const MergedWeights weights = merge_lora(state.tensors(), initializers.values);
  onnx::Exported exported = onnx::export_weights(command.model, weights.values);
  std::erase_if(exported.unused, is_of_training);
  if (!exported.unused.empty()) {
    throw_error(nullptr, fmt::format("{}: {} are no weights of {}'s graph; is it the model that was trained?",
                                     command.state, join(exported.unused, ", "), command.model));
  }
  if (exported.replaced.empty()) throw_error(nullptr, fmt::format("{}: holds no weights", command.state));
  write_file(command.output, exported.model);
  const std::string merged =
      weights.merged.empty() ? "" : fmt::format(", {} of them with LoRA's adapters merged", weights.merged.size());
  fmt::print("{}: {} weights from {}{}\n", command.output, exported.replaced.size(), command.state, merged);
}

}  // namespace

Command export_command() {
  auto options = std::make_shared<ExportCommand>();
  ExportCommand& o = *options;
  return {
      .name = "export",
      .help = "Write trained weights into the ONNX model that they came from, LoRA's adapters merged into theirs",
      .examples =
          "  ingot compile model.onnx -o train.ingot --shape batch=32 --train cross_entropy:labels\n"
          "  ingot train train.ingot --data batches.safetensors --save trained.safetensors\n"
          "  ingot export model.onnx --state trained.safetensors -o tuned.onnx",
      .options = {{"model", &o.model, "the ONNX model", {.required = true, .names = Names::kInput, .suffix = ".onnx"}},
                  {"--state",
                   &o.state,
                   "safetensors file with the weights, as ingot train --save writes it",
                   {.required = true, .names = Names::kInput}},
                  {"-o,--output",
                   &o.output,
                   "the model to write",
                   {.required = true, .names = Names::kOutput, .suffix = ".onnx"}}},
      .run = [options] { run_export(*options); },
  };
}

}  // namespace ingot
