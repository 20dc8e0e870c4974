// Models that were imported from ONNX, as parts of programs, and the programs that train them.
#pragma once

#include <ingot/ingot.h>

#include "aot/finetune/merge_lora.h"
#include "aot/finetune/training_program.h"
#include "aot/frontend/onnx/export_weights.h"
#include "aot/frontend/onnx/import.h"
