// Custom calls by which JAX asks a processor's linear algebra library for what StableHLO has ops for.
#pragma once

#include "aot/graph/graph.h"

namespace ingot {

// Puts these ops in their place:
//   lapack_?trsm_ffi   triangular_solve
//   lapack_?potrf_ffi  cholesky, and whether it failed
//   lapack_?getrf_ffi  ingot.lu, with pivots that count from 1, and which of them is 0
//   lapack_?geqrf_ffi  ingot.qr
//   lapack_?orgqr_ffi  ingot.householder_product
//   lapack_?syevd_ffi  ingot.eigh
//   lapack_?gesdd_ffi  ingot.svd, for job A with more columns
//   lu_pivots_to_permutation    the loop that exchanges row numbers
void replace_library_calls(Module& module);

}  // namespace ingot
