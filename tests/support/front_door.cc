#include "tests/support/front_door.h"

#include <stdexcept>

#include "aot/analysis/walk.h"
#include "aot/frontend/stablehlo/import.h"
#include "aot/graph/text/parse.h"
#include "aot/graph/text/print.h"
#include "aot/ops/support/build.h"
#include "aot/pipeline/passes.h"
#include "aot/schedule/lower.h"

namespace ingot {
namespace {

// Whether `work` was done; false where it refused.
template <typename Work>
bool try_work(const char* what, std::string* message, Work work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kBug) throw std::logic_error(std::string(what) + ": " + error.what());
    if (message) *message = error.what();
    return false;
  } catch (const std::exception& error) {
    throw std::logic_error(std::string(what) + " threw " + error.what());
  }
}

}  // namespace

Verdict try_text(std::string_view text, std::string* message) {
  std::unique_ptr<Module> module;
  const bool parses = try_work("parse", message, [&] {
    try {
      module = parse_module(text, "text", all_ops());
    } catch (const Error& error) {
      if (!error.location()) throw_bug(std::string("refused at no place: ") + error.what());
      throw;
    }
  });
  if (!parses) return Verdict::kRefused;

  const std::string printed = print(*module);
  std::unique_ptr<Module> again;
  const bool parses_again = try_work("parse", message, [&] { again = parse_module(printed, "printed", all_ops()); });
  if (!parses_again || print(*again) != printed) throw std::logic_error("what was printed is not parsed:\n" + printed);

  const bool is_lowered = try_work("compile", message, [&] {
    import_stablehlo(*module);
    PassContext context;
    run_passes(compile_passes(), *module, context, {});
    for_each_block(*module, [](Block& block) {
      for (const auto& op : block.ops) {
        if (!op->is(kKernel)) continue;
        for (const LoweredKernel& step : lower(*op, loops::find_target("x86-64-v3")).steps) loops::verify(step.kernel);
      }
    });
  });
  return is_lowered ? Verdict::kLowered : Verdict::kParsed;
}

}  // namespace ingot
