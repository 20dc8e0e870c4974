// A bundle's static sources, linked into a program by a C compiler, which runs an entry point on what it is given.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "aot/bundle/bundle.h"
#include "tests/support/program_runner.h"
#include "tests/support/temporary_folder.h"

namespace ingot {

// How programs for a target are made and run, the packages of Debian that this takes, and what is linked for a board.
struct CTools {
  std::string target, compiler, emulator, package, board;

  std::string missing() const;  // "" if nothing is
};
CTools c_tools(const std::string& target);

class StaticProgram {
 public:
  StaticProgram(const bundle::BundleSpec& spec, const CTools& tools);

  // What `main` of this text, which may use the header, stdio.h and put(variable), writes to its standard output.
  std::string run(const std::string& statements, const std::string& input = "") const;

  // Gives the state its first values, and runs the entry point on each of the inputs. The outputs of each run; and the state
  // after the last one.
  std::vector<NamedTensors> run(const std::string& entry, const std::vector<NamedTensors>& inputs,
                                NamedTensors& state) const;

 private:
  std::string built(const std::string& statements) const;

  const bundle::BundleSpec& spec_;
  const CTools& tools_;
  TemporaryFolder folder_;
};

// Exactly the same values.
void expect_same_values(const NamedTensors& actual, const NamedTensors& expected);

}  // namespace ingot
