// A bundle file back as the BundleSpec that it was written from: for tools that show, compare or change bundles.
#pragma once

#include <cstddef>
#include <span>

#include "aot/bundle/bundle.h"

namespace ingot::bundle {

// What write_bundle was given, but for page_bytes beyond 4096, the order of buffers, which is by first step, and the required
// features that it added.
// Checks checksums and structure, not plans; throws an error that says what is wrong with the file.
BundleSpec read_bundle(std::span<const std::byte> bytes);

}  // namespace ingot::bundle
