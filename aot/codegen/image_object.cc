#include "aot/codegen/image_object.h"

#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>

#include "aot/base/error.h"
#include "aot/codegen/machine.h"
#include "aot/codegen/without_memory.h"
#include "schema/kernel_abi.h"

namespace ingot::codegen {
namespace {

// Bytes as directives of the assembler, a line for every few.
void append_bytes(std::string& text, std::span<const std::byte> bytes) {
  constexpr size_t kLineBytes = 32;
  for (size_t k = 0; k < bytes.size(); ++k) {
    text += k % kLineBytes == 0 ? "\n.byte " : ",";
    text += fmt::format("{}", std::to_integer<int>(bytes[k]));
  }
  text += '\n';
}

// The image as it is: the instructions reach their constants relative to themselves, so one section has both.
std::string code_text(const ImageObject& object, const loops::Target& target) {
  const bool is_thumb = llvm::Triple(std::string(target.triple)).isThumb();  // addresses of such functions are odd
  std::vector<ImageObject::Function> functions = object.functions;
  std::ranges::stable_sort(functions, {}, &ImageObject::Function::offset_bytes);
  std::string text =
      fmt::format(".section .text.{},\"ax\",%progbits\n.balign {}\n", object.name, object.code_alignment_bytes);
  size_t written = 0;
  for (const ImageObject::Function& function : functions) {
    INGOT_CHECK(function.offset_bytes < object.code.size());
    append_bytes(text, object.code.subspan(written, function.offset_bytes - written));
    written = function.offset_bytes;
    text += fmt::format(".globl {0}\n.type {0},%function\n", function.symbol);
    if (is_thumb) text += ".thumb_func\n";
    text += function.symbol + ":\n";
  }
  append_bytes(text, object.code.subspan(written));
  return text;
}

void add_data(llvm::Module& module, const std::string& name, const ImageObject::Data& data) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(data.bytes.data()), data.bytes.size());
  llvm::Constant* const value = llvm::ConstantDataArray::getString(module.getContext(), bytes, /*AddNull=*/false);
  auto* const variable = new llvm::GlobalVariable(module, value->getType(), data.is_constant,
                                                  llvm::GlobalValue::ExternalLinkage, value, data.symbol);
  variable->setAlignment(llvm::Align(INGOT_BUFFER_ALIGNMENT_BYTES));
  variable->setSection((data.is_constant ? ".rodata." : ".data.") + name);
}

}  // namespace

std::string write_object(const ImageObject& object, const loops::Target& target) {
  const EndsWithoutMemory guard;
  const Machine machine(target);
  llvm::LLVMContext context;
  llvm::Module module(object.name, context);
  machine.prepare(module);
  if (!object.code.empty()) module.setModuleInlineAsm(code_text(object, target));
  for (const ImageObject::Data& data : object.data) add_data(module, object.name, data);
  return machine.object_file(module);
}

}  // namespace ingot::codegen
