// A bundle's interface as source: a header for C and C++, and the bundle's bytes as an object to link.
#pragma once

#include <string>

#include "aot/bundle/bundle.h"

namespace ingot {

// What the header calls itself, and whether the program has the bundle in it.
struct HeaderNames {
  std::string prefix;        // a C identifier: the C++ namespace, and in capitals the prefix of C names
  bool is_embedded = false;  // declares PREFIX_bundle
};

// For C: sizes and indices as constants. For C++: the same in a namespace, and a class for each entry point, whose
// inputs and outputs are spans of their own types.
std::string typed_header(const bundle::BundleSpec& spec, const HeaderNames& names);

// C (and C++) source of an object that has the file's bytes under PREFIX_bundle, at a multiple of `page_bytes`.
std::string embedding_source(const std::string& prefix, const std::string& path, uint32_t page_bytes);

}  // namespace ingot
