// ingot check: compiles and runs programs that check themselves.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "aot/base/error.h"
#include "aot/base/file.h"
#include "aot/graph/quantization.h"
#include "aot/graph/text/parse.h"
#include "aot/ops/support/build.h"
#include "aot/pipeline/check_program.h"
#include "aot/pipeline/compile.h"
#include "apps/ingot/command.h"
#include "apps/ingot/device/device.h"
#include "apps/ingot/files/file_format.h"
#include "apps/ingot/terminal/progress.h"
#include "apps/ingot/terminal/report.h"

namespace ingot {
namespace {

struct CheckOptions {
  std::vector<std::string> paths;
  std::string target = "host";
  uint32_t threads = 1;
  bool quiet = false;
  bool json = false;
  bool allow_unsupported = false;
};

enum class Outcome { kPassed, kFailed, kUnsupported };

struct Verdict {
  Outcome outcome;
  std::string why;
};

std::vector<RefTensor> results_of(const std::vector<TensorType>& types, const Device::Bound& bound) {
  std::vector<RefTensor> results;
  for (size_t i = 0; i < bound.outputs.size(); ++i) {
    const auto& bytes = bound.outputs[i];
    const TensorType& type = types[i];
    const TensorType in_memory = type.quantization ? storage_type(type) : type;
    results.push_back(from_literal(*dense(in_memory, {bytes.begin(), bytes.end()})));
  }
  return results;
}

// Compiles and runs one program; the first check that does not hold, or "".
std::string run_program(CheckProgram program, const CheckOptions& options) {
  hoist_constants(program);
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(std::move(program.module));
  CompileOptions compile_options;
  compile_options.targets = {options.target};
  const std::vector<std::byte> bytes = bundle::write_bundle(compile(std::move(modules), compile_options).spec);
  engine::AlignedBytes image(bytes.size(), 4096);
  std::memcpy(image.data(), bytes.data(), bytes.size());

  Device device(std::span<const std::byte>(image.data(), image.size()), options.threads);
  const uint32_t entry = device.find_entry(program.name);
  const Device::Bound bound = device.bind(entry);
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const std::vector<std::byte> data = program.inputs[i]->dense_bytes();
    std::ranges::copy(data, bound.inputs[i].begin());
  }
  device.run(entry);
  const std::vector<RefTensor> results = results_of(program.results, bound);
  for (const Check& check : program.checks) {
    const std::string complaint = judge(check, results);
    if (!complaint.empty()) return complaint;
  }
  return "";
}

Verdict attempt(const std::function<std::string()>& work) {
  try {
    const std::string complaint = work();
    return {complaint.empty() ? Outcome::kPassed : Outcome::kFailed, complaint};
  } catch (const Error& error) {
    return {error.kind() == ErrorKind::kBug ? Outcome::kFailed : Outcome::kUnsupported, error.what()};
  } catch (const engine::Failure& failure) {
    return {Outcome::kFailed, failure.what()};
  }
}

// The files as they are; in the place of a folder every FILE.mlir below it.
std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& item : std::filesystem::recursive_directory_iterator(path)) {
      if (item.path().extension() == ".mlir") files.push_back(item.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// What became of the programs; each is told of as it is judged.
class Judgement {
 public:
  explicit Judgement(const CheckOptions& options) : options_(options) {}

  void conclude(const std::string& name, const Verdict& verdict) {
    static constexpr const char* kWords[] = {"passed", "FAILED", "unsupported"};
    const char* word = kWords[static_cast<int>(verdict.outcome)];
    const std::string why = verdict.why.substr(0, verdict.why.find('\n'));
    ++totals_[static_cast<size_t>(verdict.outcome)];
    if (options_.quiet && verdict.outcome == Outcome::kPassed) return;
    if (options_.json) {
      programs_.push_back({{"name", name}, {"outcome", word}, {"why", why}});
    } else {
      fmt::print("{:12} {}{}{}\n", word, name, why.empty() ? "" : "  ", why);
    }
  }

  // Throws an Error unless something was checked, nothing failed, and what was not supported is allowed.
  void finish() {
    const auto [passed, failed, unsupported] = totals_;
    if (options_.json) {
      Json object = report("check");
      object.update({{"passed", passed}, {"failed", failed}, {"unsupported", unsupported}, {"programs", programs_}});
      print(object);
    } else {
      fmt::print("{} passed, {} failed, {} unsupported\n", passed, failed, unsupported);
    }
    if (failed > 0) throw_error(nullptr, fmt::format("{} program{} failed", failed, failed == 1 ? "" : "s"));
    if (unsupported > 0 && !options_.allow_unsupported) {
      const char* noun = unsupported == 1 ? "program is" : "programs are";
      throw_error(nullptr, fmt::format("{} {} not supported; --allow-unsupported leaves them out", unsupported, noun));
    }
    if (passed == 0) throw_error(nullptr, "nothing was checked: no program has check.* ops that could be run");
  }

 private:
  const CheckOptions& options_;
  std::array<int, 3> totals_ = {};  // by Outcome
  Json programs_ = Json::array();
};

void check_file(const std::string& file, const CheckOptions& options, Judgement& judgement) {
  refuse_other_formats(file, Wanted::kProgram);
  for (ParsedPart& part : parse_split_parts(read_text(file), file, all_ops())) {
    if (part.error) {
      judgement.conclude(file, {Outcome::kUnsupported, part.error->what()});
      continue;
    }
    std::vector<CheckProgram> programs;
    const Verdict ready = attempt([&] {
      programs = check_programs(*part.module);
      return std::string();
    });
    if (ready.outcome != Outcome::kPassed) judgement.conclude(file, ready);
    for (CheckProgram& program : programs) {
      const std::string name = file + " @" + program.name;
      judgement.conclude(name, attempt([&] { return run_program(std::move(program), options); }));
    }
  }
}

void check(const CheckOptions& options) {
  const std::vector<std::string> files = files_of(options.paths);
  Judgement judgement(options);
  {
    Progress progress("file", static_cast<int64_t>(files.size()));
    int64_t done = 0;
    for (const std::string& file : files) {
      check_file(file, options, judgement);
      progress.at(++done);
    }
  }
  judgement.finish();
}

}  // namespace

Command check_command() {
  auto options = std::make_shared<CheckOptions>();
  CheckOptions& o = *options;
  return {
      .name = "check",
      .help = "Compile and run programs that check themselves (check.* ops)",
      .examples = "  ingot check tests/interpret/add.mlir --quiet",
      .options =
          {{"paths", &o.paths, "files, and folders of .mlir files", {.required = true, .names = Names::kProgram}},
           {"--target", &o.target, "what to compile for"},
           {"--threads", &o.threads, "1 by default", {.positive = true}},
           {"--allow-unsupported", &o.allow_unsupported, "succeed although some programs are not supported"},
           {"--quiet", &o.quiet, "print only what did not pass"},
           {"--json", &o.json, "tell of every program in one JSON object"}},
      .run = [options] { check(*options); },
  };
}

}  // namespace ingot
