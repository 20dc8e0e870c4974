// The options of `ingot compile` that make a training program of a model.
#pragma once

#include "aot/finetune/training_program.h"
#include "apps/ingot/command.h"

namespace ingot {

struct TrainingArguments {
  std::string train;              // LOSS[:TARGET[:OUTPUT]]; empty: nothing is trained
  std::vector<std::string> lora;  // rank=RANK[,alpha=ALPHA]:PATTERN[,PATTERN...]
  TrainingOptions options;

  bool is_given() const { return !train.empty(); }
};

std::vector<Option> training_options(TrainingArguments& arguments);

// The program that trains the only one of `modules`, in the place of it.
Program trained(std::vector<std::unique_ptr<Module>> modules, const TrainingArguments& arguments,
                std::vector<GivenShape>& shapes);

// Throws an Error where options for training are given without --train.
void check_training(const TrainingArguments& arguments);

}  // namespace ingot
