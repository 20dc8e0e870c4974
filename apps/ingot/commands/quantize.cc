// ingot quantize: programs of floats to bundles whose products and convolutions are of 8-bit integers.
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

#include "aot/base/contains.h"
#include "aot/base/error.h"
#include "aot/base/file.h"
#include "aot/base/join.h"
#include "aot/loops/target.h"
#include "aot/pipeline/compile.h"
#include "apps/ingot/command.h"
#include "apps/ingot/commands/kept_weights.h"
#include "apps/ingot/device/observed_program.h"
#include "apps/ingot/device/seen_values.h"
#include "apps/ingot/files/sources.h"
#include "apps/ingot/measurements/result_error.h"
#include "apps/ingot/terminal/names.h"
#include "apps/ingot/terminal/progress.h"
#include "apps/ingot/terminal/report.h"

namespace ingot {
namespace {

struct RangeRow {
  const char* name;
  RangeRule rule;
};
constexpr RangeRow kRanges[] = {
    {"minmax", RangeRule::kMinMax}, {"percentile", RangeRule::kPercentile}, {"error", RangeRule::kLeastError}};

// The default ones, after those of the same processors that multiply bytes at once.
std::vector<std::string> targets_for_bytes() {
  std::vector<std::string> names = default_targets();
  const std::string_view isa = loops::find_target(names.front()).isa;
  for (const loops::Target& target : loops::all_targets()) {
    const bool is_fitting = target.isa == isa && target.byte_products == loops::ByteProducts::kAtOnce;
    if (is_fitting && !contains(names, std::string(target.name))) names.insert(names.begin(), std::string(target.name));
  }
  return names;
}

struct QuantizeCommand {
  std::vector<std::string> inputs;
  std::string output, entry;
  ObservedData calibration;
  std::vector<std::string> measured_on;
  std::string weights;
  std::string range = kRanges[0].name;
  double percentile = 99.99;
  std::vector<std::string> keep;
  uint32_t threads = 1;
  std::vector<std::string> shapes;
  CompileOptions options;
  bool json = false;

  QuantizeCommand() { options.targets = targets_for_bytes(); }
};

// --- the program -----------------------------------------------------------------------------------------------------

std::vector<Function*> public_functions(const Module& module) {
  std::vector<Function*> found;
  for (const auto& function : module.functions) {
    if (!function->is_private) found.push_back(function.get());
  }
  return found;
}

// The program that has the entry point which is asked for, or is called as models are; its other entry points go.
LoadedProgram load_model(const QuantizeCommand& command, std::vector<GivenShape>& shapes) {
  std::vector<LoadedProgram> programs;
  std::vector<std::string> names;
  std::vector<std::pair<size_t, Function*>> entries;
  for (const std::string& file : program_files(command.inputs)) {
    programs.push_back(load_program(file, shapes));
    for (Function* function : public_functions(*programs.back().module)) {
      names.push_back(function->name);
      entries.emplace_back(programs.size() - 1, function);
    }
  }
  const bool is_model = command.entry.empty() && contains(names, std::string("predict"));
  const auto [program, entry] = entries[pick_entry(names, is_model ? "predict" : command.entry)];
  for (Function* function : public_functions(*programs[program].module)) function->is_private = function != entry;
  return std::move(programs[program]);
}

// --- calibration -----------------------------------------------------------------------------------------------------

// Runs `work` for every step that the data has.
void for_each_step(const Batches& batches, const std::string& what, const std::function<void(int64_t step)>& work) {
  Progress progress(what, batches.count());
  for (int64_t step = 0; step < batches.count(); ++step) {
    work(step);
    progress.at(step + 1);
  }
}

bool is_of_integers(const ProductNote& note) { return note.why_float.empty(); }

void check_products(const std::vector<ProductNote>& notes, const std::vector<std::string>& keep) {
  for (const std::string& pattern : keep) {
    const auto fits = [&](const ProductNote& note) { return fnmatch(pattern.c_str(), note.name.c_str(), 0) == 0; };
    if (std::ranges::any_of(notes, fits)) continue;
    std::vector<std::string> names;
    for (const ProductNote& note : notes) names.push_back(note.name);
    throw_error(nullptr, fmt::format("--keep {}: no product or convolution is called so{}", pattern,
                                     suggestion(names, pattern)));
  }
  if (std::ranges::any_of(notes, is_of_integers)) return;
  std::string why = notes.empty() ? "; it has none" : "";
  for (const ProductNote& note : notes) why += fmt::format("\n  {}: {}", note.name, note.why_float);
  throw_error(nullptr, fmt::format("no product or convolution of the program can be one of integers{}", why));
}

// What each product reads over all steps; two rounds where values are counted.
std::vector<SeenRange> seen_ranges(ObservedProgram& program, const QuantizeCommand& command) {
  const auto found = std::ranges::find(kRanges, command.range, &RangeRow::name);
  std::vector<SeenValues> seen(program.products().size());
  const auto see = [&](auto look) {
    for_each_step(program.batches(), "calibration, step", [&](int64_t step) {
      program.run(step);
      for (size_t k = 0; k < seen.size(); ++k) {
        if (is_of_integers(program.products()[k])) (seen[k].*look)(program.reads(k));
      }
    });
  };
  see(&SeenValues::widen);
  if (SeenValues::are_counted(found->rule)) see(&SeenValues::count);
  std::vector<SeenRange> ranges;
  for (const SeenValues& values : seen) ranges.push_back(values.range(found->rule, 1 - command.percentile / 100));
  return ranges;
}

// --- how far the results are ------------------------------------------------------------------------------------------

// Where programs are compared.
ObservedData measured_data(const QuantizeCommand& command) {
  ObservedData data = command.calibration;
  if (!command.measured_on.empty()) data.files = command.measured_on;
  return data;
}

struct Errors {
  std::vector<ProductError> products;  // as notes are
  std::vector<ResultError> results;    // those of f32
  int64_t steps = 0;
};

Errors errors_of(ObservedProgram& floats, ObservedProgram& integers) {
  Errors errors;
  errors.products.resize(floats.products().size());
  errors.steps = floats.batches().count();
  errors.results = results_of(floats);
  for_each_step(floats.batches(), "measurement, step", [&](int64_t step) {
    floats.run(step);
    integers.run(step);
    for (size_t k = 0; k < errors.products.size(); ++k) {
      if (is_of_integers(floats.products()[k])) add_step(floats, integers, k, errors.products[k]);
    }
    add_step(floats, integers, errors.results);
  });
  return errors;
}

// --- reports ---------------------------------------------------------------------------------------------------------

struct Quantized {
  std::vector<ProductNote> products;
  std::vector<SeenRange> ranges;
  Errors errors;
  uint64_t bundle_bytes = 0;

  int64_t of_integers() const { return std::ranges::count_if(products, is_of_integers); }
};

void print_measure(int64_t steps) {
  fmt::print("  signal over noise of integers beside floats, over {} steps; alone: of what the floats give it\n",
             steps);
}

void print_text(const Quantized& q, const std::string& path) {
  fmt::print("{}: {}; {} of {} products and convolutions are of 8-bit integers\n", path, size_text(q.bundle_bytes),
             q.of_integers(), q.products.size());
  size_t width = 7;
  for (const ProductNote& note : q.products) width = std::max(width, note.name.size());
  fmt::print("  {:{}}  {:>23}  {:>9}  {:>9}\n", "", width, "reads", "alone", "in all");
  for (size_t k = 0; k < q.products.size(); ++k) {
    if (!is_of_integers(q.products[k])) continue;
    const std::string range = fmt::format("{:.5g} to {:.5g}", q.ranges[k].low, q.ranges[k].high);
    fmt::print("  {:{}}  {:>23}  {:>9}  {:>9}\n", q.products[k].name, width, range, decibels(q.errors.products[k].own),
               decibels(q.errors.products[k].all));
  }
  for (const ProductNote& note : q.products) {
    if (!is_of_integers(note)) fmt::print("  {:{}}  stays in floats: {}\n", note.name, width, note.why_float);
  }
  fmt::print("{}", results_text(q.errors.results));
  print_measure(q.errors.steps);
}

void print_json(const Quantized& q, const std::string& path) {
  Json object = report("quantize");
  object.update({{"bundle", path}, {"bytes", q.bundle_bytes}, {"steps", q.errors.steps}});
  object["products"] = Json::array();
  for (size_t k = 0; k < q.products.size(); ++k) {
    Json row = {{"name", q.products[k].name}, {"of_integers", is_of_integers(q.products[k])}};
    if (is_of_integers(q.products[k])) {
      row.update({{"low", q.ranges[k].low},
                  {"high", q.ranges[k].high},
                  {"alone_db", json_of(q.errors.products[k].own)},
                  {"in_all_db", json_of(q.errors.products[k].all)}});
    } else {
      row["why"] = q.products[k].why_float;
    }
    object["products"].push_back(std::move(row));
  }
  object["results"] = results_json(q.errors.results);
  print(object);
}

void check_options(const QuantizeCommand& command) {
  if (!command.weights.empty() && !command.keep.empty())
    throw_error(nullptr, "--keep is of products of integers, of which --weights makes none");
  if (command.percentile > 50 && command.percentile <= 100) return;
  throw_error(nullptr, fmt::format("--percentile {}: is not above 50, and at most 100", command.percentile));
}

void warn_of_unread(const ObservedProgram& program) {
  const std::vector<std::string> names = program.batches().of_none(program.inputs());
  if (names.empty()) return;
  fmt::print(stderr, "warning: the data has '{}', which is no input of the program and not read\n",
             fmt::join(names, "', '"));
}

Compiled compile_quantized(std::unique_ptr<Module> module, CompileOptions options,
                           const std::optional<ProductQuantization>& quantization) {
  Progress progress;
  options.on_phase = [&](const std::string& phase) { progress.at(0, phase); };
  options.quantization = quantization;
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(std::move(module));
  return compile(std::move(modules), options);
}

// --- weights only ----------------------------------------------------------------------------------------------------

struct MeasuredWeights {
  std::vector<WeightNote> notes;
  Errors errors;  // their products'
};

MeasuredWeights measure_weights(const QuantizeCommand& command, const Module& module, CompileOptions options) {
  options.observed_weights = ObservedWeights::kBeside;
  ObservedProgram floats(module, options, command.threads);
  check_kept_weights(floats.weights());
  options.observed_weights = ObservedWeights::kGiven;
  ObservedProgram integers(module, options, command.threads);
  const ObservedData data = measured_data(command);
  floats.take(data);
  integers.take(data);
  warn_of_unread(floats);
  const std::vector<WeightNote>& notes = floats.weights();
  Errors errors{std::vector<ProductError>(notes.size()), results_of(floats), floats.batches().count()};
  for_each_step(floats.batches(), "measurement, step", [&](int64_t step) {
    floats.run(step);
    integers.run(step);
    for (size_t k = 0; k < notes.size(); ++k) {
      if (notes[k].is_observed) add_step(floats, integers, k, errors.products[k]);
    }
    add_step(floats, integers, errors.results);
  });
  return {notes, std::move(errors)};
}

// The program with its weights as integers, and how far its products and results are from those of floats.
void quantize_weights_only(const QuantizeCommand& command, LoadedProgram model, CompileOptions options) {
  options.weight_bits = weight_bits(command.weights);
  const auto [notes, errors] = measure_weights(command, *model.module, options);
  const Compiled compiled = compile_quantized(std::move(model.module), options, std::nullopt);
  compiled.write(command.output);
  const uint64_t bytes = std::filesystem::file_size(command.output);
  if (!command.json) {
    fmt::print("{}: {}\n{}{}{}", command.output, size_text(bytes), kept_weights_text(notes),
               weight_errors_text(notes, errors.products), results_text(errors.results));
    print_measure(errors.steps);
    return;
  }
  Json object = report("quantize");
  object.update({{"bundle", command.output}, {"bytes", bytes}, {"steps", errors.steps}});
  object["weights"] = weight_errors_json(notes, errors.products);
  object["results"] = results_json(errors.results);
  print(object);
}

// --- the command -----------------------------------------------------------------------------------------------------

void quantize(const QuantizeCommand& command) {
  check_options(command);
  WholeFile writable(command.output);
  CompileOptions options = command.options;
  options.shapes = given_shapes(command.shapes);
  LoadedProgram model = load_model(command, options.shapes);
  options.values = model.values;
  options.freeze = Freeze::kAll;
  if (options.initial_state.empty()) options.initial_state = saved_state(command.inputs);
  if (!command.weights.empty()) return quantize_weights_only(command, std::move(model), options);

  Quantized q;
  ProductQuantization quantization{.kept = command.keep};
  {
    options.quantization = quantization;
    ObservedProgram floats(*model.module, options, command.threads);
    check_products(floats.products(), command.keep);
    floats.take(command.calibration);
    warn_of_unread(floats);
    quantization.ranges = seen_ranges(floats, command);
    q.products = floats.products();
    q.ranges = quantization.ranges;
  }
  {
    const ObservedData data = measured_data(command);
    options.quantization = quantization;
    ObservedProgram integers(*model.module, options, command.threads);
    options.quantization->is_beside = true;
    ObservedProgram floats(*model.module, options, command.threads);
    floats.take(data);
    integers.take(data);
    q.errors = errors_of(floats, integers);
  }
  const Compiled compiled = compile_quantized(std::move(model.module), options, quantization);
  compiled.write(command.output);
  q.bundle_bytes = std::filesystem::file_size(command.output);
  command.json ? print_json(q, command.output) : print_text(q, command.output);
}

std::vector<std::string> range_names() {
  std::vector<std::string> names;
  for (const RangeRow& row : kRanges) names.emplace_back(row.name);
  return names;
}

}  // namespace

Command quantize_command() {
  auto options = std::make_shared<QuantizeCommand>();
  QuantizeCommand& o = *options;
  return {
      .name = "quantize",
      .help = "Compile a program of floats with its products and convolutions in integers of 8 bits",
      .examples =
          "  ingot quantize model.onnx --calibration images.safetensors -o model.ingot --shape batch=1\n"
          "  ingot quantize net/ --entry predict --calibration rows.safetensors -o net.ingot    # from PyTorch or JAX\n"
          "  ingot quantize model.onnx --calibration some.safetensors --measured-on others.safetensors -o model.ingot "
          "--keep '*head*' --range percentile",
      .options =
          {{"inputs",
            &o.inputs,
            "[ENTRY=]FILE.mlir, FILE.onnx or FOLDER...: StableHLO text or ONNX models, of which one entry point is "
            "compiled",
            {.required = true, .names = Names::kProgram}},
           {"-o,--output", &o.output, "the bundle to write", {.required = true, .names = Names::kOutput}},
           {"--calibration",
            &o.calibration.files,
            "safetensors files with inputs as the program will see them; their keys match input names, the first "
            "dimension is the step: some hundred are enough",
            {.required = true, .commas = true, .names = Names::kInput}},
           {"--measured-on",
            &o.measured_on,
            "such files with other inputs, on which integers are compared with floats (default: those of "
            "--calibration)",
            {.commas = true, .names = Names::kInput}},
           {"--cast", &o.calibration.cast, "convert data of other element types; integers must fit"},
           {"--set", &o.calibration.settings, "NAME=NUMBER: the value of an input at every step"},
           {"--entry", &o.entry, "entry point to compile (default: the only one, or predict)"},
           {"--range",
            &o.range,
            "which values integers say: minmax, all that were seen; percentile, all but the ends; error, those with "
            "the "
            "least squared error of what was seen; others are clipped",
            {.choices = range_names()}},
           {"--percentile", &o.percentile, "of --range percentile: how many of a hundred values are not clipped"},
           {"--weights",
            &o.weights,
            "only the weights become integers, int8 or int4, as by compile --quantize-weights; products stay in "
            "floats, "
            "and no range is looked for",
            {.choices = {std::begin(kWeightKinds), std::end(kWeightKinds)}}},
           {"--keep", &o.keep, "patterns of names of products and convolutions that stay in floats", {.commas = true}},
           {"--target",
            &o.options.targets,
            loops::target_names() + "; several by commas, best first (default: every common row of this kind of "
                                    "processor, and those that multiply "
                                    "bytes at once)",
            {.commas = true}},
           {"--shape", &o.shapes, "sizes that the program leaves open: batch=1, x=1x3x224x224", {.commas = true}},
           {"--state", &o.options.initial_state,
            "safetensors file with the weights (default: state.safetensors beside the program)"},
           {"--threads", &o.threads, "that calibrate, 1 by default", {.positive = true}},
           {"--json", &o.json, "tell of the products and the results as one JSON object"}},
      .run = [options] { quantize(*options); },
  };
}

}  // namespace ingot
