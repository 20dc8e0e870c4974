#include "aot/codegen/machine.h"

#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Pass.h>
#include <llvm/Support/TargetSelect.h>

#include "aot/base/error.h"
#include "aot/codegen/expand_library.h"
#include "aot/codegen/llvm_compat.h"
#include "aot/codegen/sinking.h"
#include "aot/codegen/without_memory.h"

namespace ingot::codegen {
namespace {

void initialize_llvm() {
  static const bool done = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    llvm::InitializeAllAsmParsers();
    llvm::InitializeAllDisassemblers();
    end_llvm_without_memory();
    return true;
  }();
  static_cast<void>(done);
}

// A second early-cse for what moved out of loops; GVN finds nothing more here and takes as long as all others together.
constexpr const char* kPasses =
    "function(mem2reg,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),early-cse<memssa>,adce)";

class ExpandDivision : public llvm::ModulePass {
 public:
  ExpandDivision() : llvm::ModulePass(id_) {}
  bool runOnModule(llvm::Module& module) override {
    expand_i64_division(module);
    return true;
  }

 private:
  inline static char id_ = 0;
};

// LLVM's passes from IR to machine code. Loop strength reduction takes a third of their time; where an access adds a base,
// an index and a displacement by itself, it finds nothing beside the pointers of InnermostLoop, and in Thumb it makes sums
// of these again. It divides, by loops' steps. Sinking is left out for x86 and aarch64, and for some functions of the
// others (SinkingGate).
class CodePasses : public llvm::legacy::PassManager {
 public:
  CodePasses(const llvm::Triple& triple, bool has_i64_division)
      : reduces_strength_(!triple.isX86() && !triple.isThumb()),
        sinks_(!triple.isX86() && !triple.isAArch64()),
        has_i64_division_(has_i64_division) {}

  void add(llvm::Pass* pass) override {
    const bool is_reduction = pass->getPassName() == "Loop Strength Reduction";
    const bool is_sinking = pass->getPassName() == "Machine code sinking";
    const bool is_left_out = (is_reduction && !reduces_strength_) || (is_sinking && !sinks_);
    is_left_out ? delete pass : llvm::legacy::PassManager::add(pass);
    if (is_reduction && !has_i64_division_) llvm::legacy::PassManager::add(new ExpandDivision);
  }

 private:
  bool reduces_strength_, sinks_, has_i64_division_;
};

}  // namespace

const llvm::Target& find_llvm_target(const loops::Target& target) {
  initialize_llvm();
  std::string why;
  const llvm::Target* const found = llvm::TargetRegistry::lookupTarget(std::string(target.triple), why);
  if (!found) throw_limit(nullptr, "this LLVM has no back end for target '" + std::string(target.name) + "': " + why);
  return *found;
}

Machine::Machine(const loops::Target& target) : has_i64_division_(target.has_i64_division) {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  // ARM's usual position independence has the distances of constants as words between instructions.
  const bool is_arm = llvm::Triple(target.triple).isThumb();
  machine_ = create_target_machine(find_llvm_target(target), target.triple, target.cpu, target.features, options,
                                   is_arm ? llvm::Reloc::ROPI : llvm::Reloc::PIC_, llvm::CodeGenOptLevel::Default);
}

void Machine::prepare(llvm::Module& module) const {
  set_triple(module, machine_->getTargetTriple().str());
  module.setDataLayout(machine_->createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
}

bool Machine::takes_index(const llvm::Function& function) const {
  constexpr int64_t kElementBytes = 4;
  return machine_->getTargetTransformInfo(function).isLegalAddressingMode(llvm::Type::getFloatTy(function.getContext()),
                                                                          /*BaseGV=*/nullptr, /*BaseOffset=*/0,
                                                                          /*HasBaseReg=*/true, kElementBytes);
}

void Machine::optimize(llvm::Module& module) const {
  // Through the C interface, whose header is small; the C++ one takes ten seconds to compile.
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  const LLVMErrorRef error =
      LLVMRunPasses(llvm::wrap(&module), kPasses, reinterpret_cast<LLVMTargetMachineRef>(machine_.get()), options);
  LLVMDisposePassBuilderOptions(options);
  if (!error) return;
  char* const message = LLVMGetErrorMessage(error);
  const std::string why = message;
  LLVMDisposeErrorMessage(message);
  throw_bug("LLVM's passes: " + why);
}

std::string Machine::emit(llvm::Module& module, llvm::CodeGenFileType type) const {
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  CodePasses manager(machine_->getTargetTriple(), has_i64_division_);
  if (machine_->addPassesToEmitFile(manager, stream, nullptr, type, /*DisableVerify=*/true)) {
    throw_bug("LLVM cannot write this kind of file");
  }
  const SinkingGate gate(module);
  manager.run(module);
  return {buffer.data(), buffer.size()};
}

std::string Machine::object_file(llvm::Module& module) const { return emit(module, llvm::CodeGenFileType::ObjectFile); }

std::string Machine::assembly(llvm::Module& module) const { return emit(module, llvm::CodeGenFileType::AssemblyFile); }

}  // namespace ingot::codegen
