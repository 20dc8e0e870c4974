// NumPy's .npy files.
#pragma once

#include <ingot/engine.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/ingot/files/stored_array.h"

namespace ingot {

struct NpyHeader {
  StoredType type;
  bool is_fortran_order = false;
};

// The header of a file, a dictionary in Python's notation: {'descr': '<f4', 'fortran_order': False, 'shape': (64,), }.
// Throws an Error that says what about it is not understood.
NpyHeader parse_npy_header(std::string_view text);

// Fills `to`, the memory of `tensor`. The shape must be the same, and so must the element type, unless `cast`.
void read_npy(const std::string& path, const ingot_tensor_info& tensor, bool cast, std::span<std::byte> to);

std::vector<int64_t> npy_shape(const std::string& path);

void write_npy(const std::string& path, const ingot_tensor_info& tensor, std::span<const std::byte> data);

}  // namespace ingot
