#include "aot/codegen/disassemble.h"

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "aot/base/error.h"
#include "aot/codegen/emit_llvm.h"
#include "aot/codegen/machine.h"

namespace ingot::codegen {
namespace {

// Opcodes, as LLVM names them, that it may have given wrong operands.
struct Distrusted {
  std::string_view prefix, suffix, why;
};

constexpr std::string_view kWrongTable =
    "LLVM gives masked three-operand logic on memory the truth table of other operands (its issue 157929)";
constexpr Distrusted kDistrusted[] = {
    {"VPTERNLOG", "rmik", kWrongTable},   // whole vectors from memory, merged under a mask
    {"VPTERNLOG", "rmbik", kWrongTable},  // one element for all lanes
};

// LLVM's disassembler for one target.
class Disassembler {
 public:
  explicit Disassembler(const loops::Target& row) : target_(find_llvm_target(row)) {
    const std::string triple(row.triple);
    registers_.reset(target_.createMCRegInfo(triple));
    assembly_.reset(target_.createMCAsmInfo(*registers_, triple, options_));
    instructions_.reset(target_.createMCInstrInfo());
    // Every feature that the disassembler may meet; the processor's name carries them.
    subtarget_.reset(target_.createMCSubtargetInfo(triple, row.cpu, row.features));
    context_ =
        std::make_unique<llvm::MCContext>(llvm::Triple(triple), assembly_.get(), registers_.get(), subtarget_.get());
    decoder_.reset(target_.createMCDisassembler(*subtarget_, *context_));
    analysis_.reset(target_.createMCInstrAnalysis(instructions_.get()));
    printer_.reset(target_.createMCInstPrinter(llvm::Triple(triple), assembly_->getAssemblerDialect(), *assembly_,
                                               *instructions_, *registers_));
  }

  struct Decoded {
    Instruction instruction;
    std::optional<uint64_t> branch_target;
    bool loads = false, stores = false;
  };

  std::vector<Decoded> decode(const CodeImage& image, const CodeImage::Function& function) const {
    std::vector<Decoded> result;
    for_each(image, function, [&](const llvm::MCInst& inst, uint64_t at, uint64_t size) {
      const llvm::MCInstrDesc& kind = instructions_->get(inst.getOpcode());
      Decoded decoded{{at, text_of(inst, at)}, std::nullopt, kind.mayLoad(), kind.mayStore()};
      uint64_t target = 0;
      if (kind.isBranch() && analysis_->evaluateBranch(inst, at, size, target)) {
        decoded.branch_target = target;
      }
      result.push_back(std::move(decoded));
    });
    return result;
  }

  void check(const CodeImage& image, const CodeImage::Function& function) const {
    for_each(image, function, [&](const llvm::MCInst& inst, uint64_t at, uint64_t) {
      const llvm::StringRef opcode = instructions_->getName(inst.getOpcode());
      for (const Distrusted& kind : kDistrusted) {
        if (!opcode.starts_with(kind.prefix) || !opcode.ends_with(kind.suffix)) continue;
        throw_bug("generated code of " + function.name + " has '" + text_of(inst, at) + "' at byte " +
                  std::to_string(at) + ": " + std::string(kind.why));
      }
    });
  }

 private:
  // visit(instruction, offset in the image, bytes).
  template <typename Visit>
  void for_each(const CodeImage& image, const CodeImage::Function& function, Visit visit) const {
    const auto* const data = reinterpret_cast<const uint8_t*>(image.bytes.data());
    const uint64_t end = function.offset_bytes + function.size_bytes;
    for (uint64_t at = function.offset_bytes; at < end;) {
      llvm::MCInst inst;
      uint64_t size = 0;
      const auto status =
          decoder_->getInstruction(inst, size, llvm::ArrayRef(data + at, data + end), at, llvm::nulls());
      if (status != llvm::MCDisassembler::Success) {
        throw_bug("byte " + std::to_string(at) + " of " + function.name + " is no instruction");
      }
      visit(inst, at, size);
      at += size;
    }
  }

  std::string text_of(const llvm::MCInst& inst, uint64_t address) const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    printer_->printInst(&inst, address, "", *subtarget_, stream);
    std::ranges::replace(text, '\t', ' ');
    return text.substr(std::min(text.find_first_not_of(' '), text.size()));
  }

  const llvm::Target& target_;
  llvm::MCTargetOptions options_;
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> assembly_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> decoder_;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
};

const CodeImage::Function& find_function(const CodeImage& image, const std::string& name) {
  const auto found = std::ranges::find(image.functions, name, &CodeImage::Function::name);
  if (found == image.functions.end()) throw_bug("the image has no function '" + name + "'");
  return *found;
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

bool is_multiply_add(std::string_view text) {
  return contains_any(text, {"vfmadd", "vfmacc", "fmla", "fmadd", "vfma.", "vpdpbusd", "sdot", "vdpbf16ps", "bfdot"});
}

// Of floats.
bool is_addition(std::string_view text) {
  return text.starts_with("fadd") || text.starts_with("vfadd") || contains_any(text, {"vaddp", "vadds", "vadd.f"});
}

bool is_prefetch(std::string_view text) { return text.starts_with("prefetch") || text.starts_with("prfm"); }

bool takes_no_displacement(std::string_view text) { return text.starts_with("vle") || text.starts_with("vse"); }

// rbp and x29 point into the frame only where the function makes them its frame pointer.
class StackFrame {
 public:
  explicit StackFrame(const std::vector<Disassembler::Decoded>& code) {
    has_frame_pointer_ = std::ranges::any_of(
        code, [](const auto& decoded) { return contains_any(decoded.instruction.text, {"%rsp, %rbp", "x29, sp"}); });
  }
  bool is_touched_by(std::string_view text) const {
    return contains_any(text, {"(%rsp", "[sp", "(sp)", "vl1r.v", "vs1r.v"}) ||  // whole registers: only spilled
           (has_frame_pointer_ && contains_any(text, {"(%rbp", "[x29"}));
  }

 private:
  bool has_frame_pointer_;
};

}  // namespace

void check_instructions(const CodeImage& image, const loops::Target& target) {
  const Disassembler disassembler(target);
  for (const CodeImage::Function& function : image.functions) disassembler.check(image, function);
}

std::vector<Instruction> disassemble(const CodeImage& image, const loops::Target& target, const std::string& function) {
  std::vector<Instruction> result;
  for (auto& decoded : Disassembler(target).decode(image, find_function(image, function))) {
    result.push_back(std::move(decoded.instruction));
  }
  return result;
}

HotLoop find_hot_loop(const CodeImage& image, const loops::Target& target, const std::string& symbol) {
  const auto code = Disassembler(target).decode(image, find_function(image, body_symbol(symbol)));
  const StackFrame frame(code);
  HotLoop hottest;
  // A branch backwards closes a loop; it is innermost when no other such branch lies inside.
  for (size_t last = 0; last < code.size(); ++last) {
    const auto target_offset = code[last].branch_target;
    if (!target_offset || *target_offset > code[last].instruction.offset_bytes) continue;
    HotLoop loop;
    bool is_innermost = true;
    for (size_t k = last + 1; k-- > 0 && code[k].instruction.offset_bytes >= *target_offset;) {
      const auto inner = code[k].branch_target;
      is_innermost &= k == last || !inner || *inner > code[k].instruction.offset_bytes || *inner < *target_offset;
      const std::string& text = code[k].instruction.text;
      const bool multiplies = is_multiply_add(text), touches_frame = frame.is_touched_by(text);
      const bool prefetches = is_prefetch(text), is_apart = !multiplies && !touches_frame && !prefetches;
      ++loop.instructions;
      loop.multiply_adds += multiplies;
      loop.loads += is_apart && code[k].loads;
      loop.stores += is_apart && code[k].stores;
      loop.prefetches += prefetches;
      loop.additions += is_addition(text) && !code[k].loads;
      loop.addresses += is_apart && takes_no_displacement(text);
      loop.stack_references += touches_frame;
      loop.text.insert(0, text + "\n");
    }
    const auto rank = [](const HotLoop& l) { return std::pair(l.multiply_adds, l.instructions); };
    if (is_innermost && rank(loop) > rank(hottest)) hottest = std::move(loop);
  }
  return hottest;
}

}  // namespace ingot::codegen
