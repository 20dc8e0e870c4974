// Code of another processor, run by QEMU's user mode: a process that calls kernels as it is told.
#pragma once

#include <optional>

#include "tests/support/code_runner.h"

namespace ingot {

// Why there is no emulator of the target's processor; nothing where there is one.
std::optional<std::string> why_not_emulated(const loops::Target& target);

std::unique_ptr<CodeRunner> make_emulated_runner(const loops::Target& target, const codegen::CodeImage& image);

}  // namespace ingot
