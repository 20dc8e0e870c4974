// All modules.
#pragma once

#include "aot/nn/activation.h"
#include "aot/nn/container.h"
#include "aot/nn/conv.h"
#include "aot/nn/linear.h"
#include "aot/nn/norm.h"
#include "aot/nn/pool.h"
