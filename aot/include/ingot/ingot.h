// Everything a program that describes a model needs: tensors, modules, optimizers, programs.
#pragma once

#include "aot/frontend/trace/control.h"
#include "aot/frontend/trace/functions.h"
#include "aot/frontend/trace/program.h"
#include "aot/frontend/trace/variable.h"
#include "aot/nn/nn.h"
#include "aot/optim/optim.h"
#include "aot/pipeline/compile.h"
