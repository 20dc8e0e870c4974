// All optimizers.
#pragma once

#include "aot/optim/adam.h"
#include "aot/optim/adam_8bit.h"
#include "aot/optim/adaptive.h"
#include "aot/optim/clip.h"
#include "aot/optim/sgd.h"
