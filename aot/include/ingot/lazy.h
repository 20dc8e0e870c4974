// Tensors that hold values, compiled as a program runs: link ingot::lazy.
#pragma once

#include <ingot/ingot.h>

#include "aot/lazy/device.h"
