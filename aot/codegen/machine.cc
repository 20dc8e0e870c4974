#include "aot/codegen/machine.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include "aot/base/error.h"
#include "aot/codegen/llvm_compat.h"

namespace ingot::codegen {
namespace {

void initialize_llvm() {
  static const bool done = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    llvm::InitializeAllDisassemblers();
    return true;
  }();
  static_cast<void>(done);
}

llvm::FunctionPassManager passes() {
  llvm::FunctionPassManager manager;
  manager.addPass(llvm::PromotePass());
  manager.addPass(llvm::EarlyCSEPass());
  manager.addPass(llvm::InstCombinePass());
  manager.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  manager.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  // A second one for what moved out of loops; GVN finds nothing more here and takes as long as all the others together.
  manager.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  manager.addPass(llvm::ADCEPass());
  return manager;
}

}  // namespace

const llvm::Target& find_llvm_target(const loops::Target& target) {
  initialize_llvm();
  std::string why;
  const llvm::Target* const found = llvm::TargetRegistry::lookupTarget(std::string(target.triple), why);
  if (!found) throw_limit(nullptr, "this LLVM has no back end for target '" + std::string(target.name) + "': " + why);
  return *found;
}

Machine::Machine(const loops::Target& target) {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  machine_ = create_target_machine(find_llvm_target(target), target.triple, target.cpu, target.features, options,
                                   llvm::CodeGenOptLevel::Default);
}

void Machine::prepare(llvm::Module& module) const {
  set_triple(module, machine_->getTargetTriple().str());
  module.setDataLayout(machine_->createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
}

void Machine::optimize(llvm::Module& module) const {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine_.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager manager;
  manager.addPass(llvm::createModuleToFunctionPassAdaptor(passes()));
  manager.run(module, modules);
}

std::string Machine::emit(llvm::Module& module, llvm::CodeGenFileType type) const {
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager manager;
  if (machine_->addPassesToEmitFile(manager, stream, nullptr, type, /*DisableVerify=*/true)) {
    throw_bug("LLVM cannot write this kind of file");
  }
  manager.run(module);
  return {buffer.data(), buffer.size()};
}

std::string Machine::object_file(llvm::Module& module) const { return emit(module, llvm::CodeGenFileType::ObjectFile); }

std::string Machine::assembly(llvm::Module& module) const { return emit(module, llvm::CodeGenFileType::AssemblyFile); }

}  // namespace ingot::codegen
