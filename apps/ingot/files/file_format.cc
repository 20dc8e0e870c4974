#include "apps/ingot/files/file_format.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "aot/base/error.h"
#include "schema/bundle_header.h"

namespace ingot {
namespace {

using namespace std::string_view_literals;

constexpr const char* kTraceIt =
    "trace the model that it came from: ingot.torch and ingot.jax save programs as StableHLO text";
constexpr const char* kSaveTensors =
    "save the tensors as safetensors: safetensors.torch.save_file or safetensors.numpy.save_file";
constexpr const char* kCompileIt = "make a bundle of its program: ingot compile PROGRAM.mlir -o BUNDLE.ingot";

// A kind of file, and what to do where a program, a bundle or tensors are wanted; null: it is what is wanted.
struct Format {
  const char* name;
  size_t at;  // where these bytes stand
  std::string_view bytes;
  std::array<const char*, 3> advice;  // by Wanted
};

constexpr Format kFormats[] = {
    {"an ingot bundle",
     0,
     std::string_view(INGOT_BUNDLE_MAGIC, 8),
     {"it is compiled already: ingot run, train and inspect take it", nullptr,
      "give a safetensors file, as --save and --save-state write"}},
    {"MLIR bytecode",
     0,
     "ML\xefR"sv,
     {"write it as text: jax.jit(f).lower(...).as_text(debug_info=True), or for jax.export, exported.mlir_module()",
      "write it as text, then ingot compile PROGRAM.mlir -o BUNDLE.ingot", kSaveTensors}},
    {"a zip archive, as PyTorch's .pt and .pt2 and NumPy's .npz are",
     0,
     "PK\x03\x04"sv,
     {kTraceIt, kCompileIt, kSaveTensors}},
    {"a pickle, as old .pt files are", 0, "\x80\x02"sv, {kTraceIt, kCompileIt, kSaveTensors}},
    {"a pickle", 0, "\x80\x04"sv, {kTraceIt, kCompileIt, kSaveTensors}},
    {"a TFLite model", 4, "TFL3"sv, {kTraceIt, kCompileIt, kSaveTensors}},
    {"an HDF5 file", 0, "\x89HDF\r\n\x1a\n"sv, {kTraceIt, kCompileIt, kSaveTensors}},
    {"gzip's", 0, "\x1f\x8b"sv, {"unpack it first", "unpack it first", "unpack it first"}},
    {"a NumPy array",
     0,
     "\x93NUMPY"sv,
     {"give a program, FILE.mlir", kCompileIt,
      "give it to one input, by --input NAME=@FILE.npy, or save several arrays "
      "by safetensors.numpy.save_file"}},
    {"a program for machines",
     0,
     "\x7f"
     "ELF"sv,
     {"give a program, FILE.mlir", kCompileIt, kSaveTensors}},
};

constexpr const char* kOnnxAdvice[] = {
    "give it a name that ends in .onnx to compile it, or import it: ingot import MODEL.onnx -o PROGRAM.mlir",
    "compile it: ingot compile MODEL.onnx -o BUNDLE.ingot", "write its weights: ingot import MODEL.onnx --state FILE"};

// ONNX has no mark of its own: a protocol buffer that begins with a small version, then the producer's name.
bool is_onnx(const std::string& path, std::string_view head) {
  if (std::filesystem::path(path).extension() == ".onnx") return true;
  return head.size() > 2 && head[0] == '\x08' && head[1] < '\x20' && head[2] == '\x12';
}

// The header of a safetensors file: its length, then a JSON object.
bool is_safetensors(std::string_view head) {
  return head.size() > 9 && head.substr(5, 3) == "\0\0\0"sv && head[8] == '{' && (head[9] == '"' || head[9] == '}');
}

bool is_program(const std::string& path, std::string_view head) {
  return std::filesystem::path(path).extension() == ".mlir" || head.starts_with("module") ||
         head.starts_with("func.func");
}

[[noreturn]] void refuse(const std::string& path, std::string_view name, std::string_view advice) {
  throw_error(nullptr, fmt::format("{}: is {}; {}", path, name, advice));
}

}  // namespace

void refuse_other_formats(const std::string& path, Wanted wanted) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return;
  std::string head(16, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(in.gcount()));
  // First: its length may begin with the bytes of any short mark.
  if (is_safetensors(head)) {
    if (wanted == Wanted::kTensors) return;
    refuse(path, "a safetensors file", wanted == Wanted::kProgram ? "give a program, FILE.mlir" : kCompileIt);
  }
  for (const Format& format : kFormats) {
    if (head.size() < format.at || !std::string_view(head).substr(format.at).starts_with(format.bytes)) continue;
    if (const char* advice = format.advice[static_cast<size_t>(wanted)]) refuse(path, format.name, advice);
    return;
  }
  if (is_onnx(path, head)) refuse(path, "an ONNX model", kOnnxAdvice[static_cast<size_t>(wanted)]);
  if (is_program(path, head) && wanted != Wanted::kProgram) {
    refuse(path, "a program", wanted == Wanted::kBundle ? kCompileIt : kSaveTensors);
  }
}

}  // namespace ingot
