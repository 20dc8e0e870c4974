#include "apps/ingot/command_line/version.h"

#include <fmt/format.h>

#include "aot/base/version.h"
#include "aot/codegen/llvm_version.h"
#include "aot/loops/target.h"
#include "commit.h"

namespace ingot {

std::string version_text() {
  const std::string commit = INGOT_COMMIT;
  return fmt::format("ingot {}{}\nLLVM {}\ntargets: {}", kVersion,
                     commit.empty() ? "" : fmt::format(" (commit {})", commit), codegen::llvm_version(),
                     loops::target_names());
}

}  // namespace ingot
