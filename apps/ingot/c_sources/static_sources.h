// A bundle's one target as sources and an object for a program of C or C++, which runs its entry points without an engine,
// without files and without memory of other than known size.
#pragma once

#include <string>

#include "aot/bundle/bundle.h"

namespace ingot {

struct StaticSources {
  std::string header;  // NAME.h: entry points as functions; inputs, outputs and state as variables; sizes
  std::string source;  // NAME.c: the plans, and the memory that they run in
  std::string object;  // NAME_kernels.o: code, constants, first values
};

// `name` is an identifier, with which all names begin. Throws an Error where a state has no value to start with.
StaticSources static_sources(const bundle::BundleSpec& spec, const std::string& name);

}  // namespace ingot
