#include "aot/codegen/link.h"

#include <lld/Common/CommonLinkerContext.h>
#include <lld/Common/Driver.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

#include "aot/base/error.h"

LLD_HAS_DRIVER(elf)

namespace ingot::codegen {
namespace {

namespace fs = std::filesystem;
using llvm::object::ELFObjectFileBase;
using llvm::object::ELFSectionRef;
using llvm::object::ELFSymbolRef;

// As a shared library at address 0 every absolute address in the objects would become a dynamic relocation, which the
// proof below would see. Sections that must stay empty have places of their own, so that the proof can name them.
constexpr std::string_view kLinkerScript = R"(
SECTIONS {
  . = 0;
  .text : ALIGN(64) { *(.text .text.*) }
  .rodata : ALIGN(64) { *(.rodata .rodata.* .srodata .srodata.*) }
  .data : ALIGN(4096) { *(.data .data.* .sdata .sdata.* .tdata .tdata.* .init_array .init_array.* .got .got.*) }
  .bss : { *(.bss .bss.* .sbss .sbss.* .tbss .tbss.* COMMON) }
  /DISCARD/ : { *(.eh_frame .eh_frame_hdr .ARM.exidx .ARM.exidx.* .comment .note .note.* .llvm_addrsig .llvm.*) }
}
)";

// A folder of its own for the linker's files, gone with this object. Memory backed where the system offers that.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const fs::path shared_memory = "/dev/shm";
    std::error_code error;
    fs::path parent = fs::is_directory(shared_memory, error) ? shared_memory : fs::temp_directory_path();
    std::string name = (parent / "ingot-link-XXXXXX").string();
    if (!mkdtemp(name.data())) {
      name = (fs::temp_directory_path() / "ingot-link-XXXXXX").string();
      if (!mkdtemp(name.data())) throw_error(nullptr, "cannot make a temporary folder like " + name);
    }
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string write(const std::string& name, const char* data, size_t bytes) const {
    const std::string file = (path_ / name).string();
    std::ofstream out(file, std::ios::binary);
    out.write(data, static_cast<std::streamsize>(bytes));
    out.flush();
    if (!out) throw_error(nullptr, "cannot write " + file);
    return file;
  }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

// lld keeps global state until version 20.
void run_lld(const std::vector<std::string>& arguments) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  std::vector<const char*> raw;
  for (const std::string& argument : arguments) raw.push_back(argument.c_str());
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  const bool linked = lld::elf::link(raw, stream, stream, /*exitEarly=*/false, /*disableOutput=*/false);
  lld::CommonLinkerContext::destroy();
  if (!linked) throw_bug("linking machine code failed: " + messages);
}

template <typename T>
T take(llvm::Expected<T> value) {
  if (!value) throw_bug("reading linked machine code: " + llvm::toString(value.takeError()));
  return std::move(*value);
}

// Nothing undefined, nothing to relocate, nothing to write.
void prove(const ELFObjectFileBase& object) {
  for (const auto symbols : {object.symbols(), object.getDynamicSymbolIterators()}) {
    for (const ELFSymbolRef symbol : symbols) {
      const std::string name = take(symbol.getName()).str();
      const bool is_undefined = take(symbol.getFlags()) & llvm::object::SymbolRef::SF_Undefined;
      if (is_undefined && !name.empty()) throw_bug("generated code needs the symbol '" + name + "' from outside");
    }
  }
  for (const ELFSectionRef section : object.sections()) {
    const std::string name = take(section.getName()).str();
    const bool is_loaded = section.getFlags() & llvm::ELF::SHF_ALLOC;
    const bool is_relocation = section.getType() == llvm::ELF::SHT_RELA || section.getType() == llvm::ELF::SHT_REL ||
                               section.getType() == llvm::ELF::SHT_RELR;
    if (is_loaded && is_relocation && section.getSize() > 0) {
      std::string symbols;
      for (const llvm::object::ELFRelocationRef relocation : section.relocations()) {
        const auto symbol = relocation.getSymbol();
        if (symbol != object.symbol_end()) symbols += " " + take(symbol->getName()).str();
      }
      throw_bug("generated code has dynamic relocations in " + name + (symbols.empty() ? "" : ":" + symbols));
    }
    const bool is_data = name == ".data" || name == ".bss";
    if (is_data && section.getSize() > 0) throw_bug("generated code has writable data in " + name);
    const bool is_content = is_loaded && section.getType() == llvm::ELF::SHT_PROGBITS;
    if (is_content && section.getSize() > 0 && name != ".text" && name != ".rodata")
      throw_bug("generated code has a section that the image would lack: " + name);
  }
}

// Text and constants as they lie in memory from address 0 on.
void copy_sections(const ELFObjectFileBase& object, CodeImage& image) {
  for (const ELFSectionRef section : object.sections()) {
    const std::string name = take(section.getName()).str();
    if (name != ".text" && name != ".rodata") continue;
    const llvm::StringRef contents = take(section.getContents());
    const uint64_t end = section.getAddress() + contents.size();
    if (image.bytes.size() < end) image.bytes.resize(end);
    std::memcpy(image.bytes.data() + section.getAddress(), contents.data(), contents.size());
    if (name == ".text") image.text_bytes = end;
  }
}

void find_functions(const ELFObjectFileBase& object, CodeImage& image) {
  for (const ELFSymbolRef symbol : object.symbols()) {
    if (take(symbol.getType()) != llvm::object::SymbolRef::ST_Function) continue;
    image.functions.push_back({take(symbol.getName()).str(), take(symbol.getAddress()), symbol.getSize()});
  }
  std::ranges::sort(image.functions, {}, &CodeImage::Function::offset_bytes);
}

}  // namespace

CodeImage link(std::span<const std::string> objects, std::span<const std::string> entries) {
  const TemporaryFolder folder;
  const std::string output = folder.file("image");
  std::vector<std::string> arguments = {"ld.lld",
                                        "-shared",
                                        "-Bsymbolic",
                                        "--no-undefined",
                                        "--threads=1",
                                        "--build-id=none",
                                        "--hash-style=sysv",
                                        "-znorelro",
                                        "-znoexecstack",
                                        "--no-rosegment",
                                        "-o",
                                        output,
                                        "-T",
                                        folder.write("flat.lds", kLinkerScript.data(), kLinkerScript.size())};
  for (size_t k = 0; k < objects.size(); ++k) {
    arguments.push_back(folder.write(std::to_string(k) + ".o", objects[k].data(), objects[k].size()));
  }
  run_lld(arguments);

  const auto file = llvm::MemoryBuffer::getFile(output);
  if (!file) throw_bug("lld wrote no " + output);
  const auto binary = take(llvm::object::ObjectFile::createELFObjectFile((*file)->getMemBufferRef()));
  const auto& object = llvm::cast<ELFObjectFileBase>(*binary);
  prove(object);
  CodeImage image;
  copy_sections(object, image);
  find_functions(object, image);
  std::map<std::string_view, uint64_t> offsets;
  for (const CodeImage::Function& function : image.functions) offsets[function.name] = function.offset_bytes;
  for (const std::string& entry : entries) {
    const auto found = offsets.find(entry);
    if (found == offsets.end()) throw_bug("linked machine code has no entry '" + entry + "'");
    image.entry_offsets.push_back(found->second);
  }
  return image;
}

}  // namespace ingot::codegen
