// What the machine code of contractions does beside multiplying.
#pragma once

#include <vector>

#include "aot/codegen/code_image.h"
#include "aot/loops/loop.h"
#include "aot/plan/plan.h"
#include "aot/schedule/lower_function.h"

namespace ingot {

// Reads the code of every kernel that a note of this target is about, and says in the note what the loop with most
// multiply-adds has: instructions for each of them, beside those that the kernel asks for (HotLoop::asked).
// `kernels` are those of the image.
void note_hot_loops(std::vector<LoweringNote>& notes, const std::vector<plan::Plan>& plans,
                    const std::vector<loops::Kernel>& kernels, const codegen::CodeImage& image,
                    const loops::Target& target);

}  // namespace ingot
