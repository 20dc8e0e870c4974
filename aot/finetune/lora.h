// Low-rank adaptation: a product by a frozen weight W gets a second one beside it, by two thin matrices that learn:
//
//   x W + (alpha / rank) (x A) B
//
// Hu et al. 2021. Of W [in, out] A is [in, rank] and B [rank, out]; of W [out, in], by whose transpose x is multiplied, A
// is [rank, in] and B [out, rank]. A is drawn by kaiming_uniform(a = sqrt 5), as PEFT draws it; B is 0. They and the factor
// are state: "NAME.lora_a", "NAME.lora_b" and "NAME.lora_scale" of the weight NAME.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aot/finetune/imported_model.h"
#include "aot/finetune/weight_products.h"

namespace ingot {

inline constexpr const char* kLoraA = ".lora_a";
inline constexpr const char* kLoraB = ".lora_b";
inline constexpr const char* kLoraScale = ".lora_scale";

struct LoraOptions {
  int64_t rank = 0;
  std::optional<double> alpha = {};  // the rank
  // Of the names of weights, with or without ".weight" at the end, of the nodes that multiply by them, and of what these
  // are parts of (fnmatch).
  std::vector<std::string> patterns = {};
};

// The adapters of a model: each weight has those of the first options of which a pattern fits.
class Lora {
 public:
  // Throws an Error that names a pattern which fits no product, or a weight that cannot be adapted.
  Lora(const ImportedModel& model, const std::vector<LoraOptions>& options);

  const std::vector<Tensor>& parameters() const { return parameters_; }
  bool adapts(const std::string& weight) const;

  // What stands in the place of `made`, a copy of the model's op `op` at this place of the trace.
  Value* adapted(const Op& op, Value* made) const;

 private:
  struct Adapter {
    WeightProduct product;
    Tensor first, second, scale;  // in the order in which they are multiplied by
  };

  void adapt(const MultipliedWeight& weight, const LoraOptions& options);

  std::map<const Op*, Adapter> adapters_;
  std::vector<Tensor> parameters_;
  std::vector<std::string> weights_;
};

}  // namespace ingot
