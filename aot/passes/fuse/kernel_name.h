// Names of kernels, by a grammar: dtype _ root _ extents _ what else is done.
//
//   f32_dot_general_32x10x64_add_maximum    the root, M x N x K, and the ops around it
//   f32_rows_128x10_maximum_subtract_...    reductions within rows: rows x reduced points
//   f32_columns_10x128_add                  reductions across: results x reduced points
//   f32_512x256_multiply_add                elementwise: the shape
//   f32_24x16_transpose                     the same, where nothing is computed
#pragma once

#include <string>

#include "aot/passes/fuse/fuse_partition.h"

namespace ingot::fusion {

std::string kernel_name(const Partition& partition, const Group& group);

}  // namespace ingot::fusion
