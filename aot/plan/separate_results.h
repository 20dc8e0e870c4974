// Who writes where: the changes to a function that let every result be made where it belongs.
#pragma once

#include "aot/lowered/lowered.h"

namespace ingot::plan {

// Makes every result of `function` the own result of a node that may write it where it belongs: state into the state's
// place, after the last reader of the old value, outputs into the host's memory; what a loop carries into the place of
// what it starts with, what branches return into the case's result. Where that cannot be (a result that is an argument,
// a constant or another result too; a reader of the old value that needs the new one) a copy or a fill is added.
void separate_results(lowered::Function& function);

}  // namespace ingot::plan
