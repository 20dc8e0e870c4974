#include "aot/graph/text/public_ops.h"

#include <algorithm>
#include <iterator>

namespace ingot {
namespace {

// The specification of StableHLO 1.x, section "Ops", and what it keeps for older programs. Sorted.
constexpr std::string_view kStablehlo[] = {
    "abs",
    "add",
    "after_all",
    "all_gather",
    "all_reduce",
    "all_to_all",
    "and",
    "async_done",
    "async_start",
    "atan2",
    "batch_norm_grad",
    "batch_norm_inference",
    "batch_norm_training",
    "bitcast_convert",
    "broadcast",
    "broadcast_in_dim",
    "case",
    "cbrt",
    "ceil",
    "cholesky",
    "clamp",
    "collective_broadcast",
    "collective_permute",
    "collective_reduce",
    "compare",
    "complex",
    "composite",
    "concatenate",
    "constant",
    "convert",
    "convolution",
    "cosine",
    "count_leading_zeros",
    "create_token",
    "cross_replica_sum",
    "custom_call",
    "divide",
    "dot",
    "dot_general",
    "dynamic_broadcast_in_dim",
    "dynamic_conv",
    "dynamic_gather",
    "dynamic_iota",
    "dynamic_pad",
    "dynamic_reshape",
    "dynamic_slice",
    "dynamic_update_slice",
    "einsum",
    "exponential",
    "exponential_minus_one",
    "fft",
    "floor",
    "gather",
    "get_dimension_size",
    "get_tuple_element",
    "if",
    "imag",
    "infeed",
    "iota",
    "is_finite",
    "log",
    "log_plus_one",
    "logistic",
    "map",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "not",
    "optimization_barrier",
    "or",
    "outfeed",
    "pad",
    "partition_id",
    "popcnt",
    "power",
    "real",
    "real_dynamic_slice",
    "recv",
    "reduce",
    "reduce_precision",
    "reduce_scatter",
    "reduce_window",
    "remainder",
    "replica_id",
    "reshape",
    "return",
    "reverse",
    "rng",
    "rng_bit_generator",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "scatter",
    "select",
    "select_and_scatter",
    "send",
    "set_dimension_size",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "sine",
    "slice",
    "sort",
    "sqrt",
    "subtract",
    "tan",
    "tanh",
    "torch_index_select",
    "transpose",
    "triangular_solve",
    "tuple",
    "unary_einsum",
    "uniform_dequantize",
    "uniform_quantize",
    "while",
    "xor",
};

constexpr std::string_view kChlo[] = {
    "_asin_acos_kernel",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bessel_i1e",
    "broadcast_add",
    "broadcast_and",
    "broadcast_atan2",
    "broadcast_clamp",
    "broadcast_compare",
    "broadcast_complex",
    "broadcast_divide",
    "broadcast_maximum",
    "broadcast_minimum",
    "broadcast_multiply",
    "broadcast_next_after",
    "broadcast_or",
    "broadcast_polygamma",
    "broadcast_power",
    "broadcast_remainder",
    "broadcast_select",
    "broadcast_shift_left",
    "broadcast_shift_right_arithmetic",
    "broadcast_shift_right_logical",
    "broadcast_subtract",
    "broadcast_xor",
    "broadcast_zeta",
    "conj",
    "constant",
    "constant_like",
    "cosh",
    "digamma",
    "dynamic_reshape",
    "erf",
    "erf_inv",
    "erfc",
    "is_inf",
    "is_neg_inf",
    "is_pos_inf",
    "lgamma",
    "minimum_broadcast_shapes",
    "next_after",
    "polygamma",
    "ragged_dot",
    "reduce",
    "sinh",
    "square",
    "tan",
    "top_k",
    "zeta",
};

static_assert(std::is_sorted(std::begin(kStablehlo), std::end(kStablehlo)));
static_assert(std::is_sorted(std::begin(kChlo), std::end(kChlo)));

// Ops that a program for one device, compiled ahead of time, cannot have.
constexpr struct {
  std::string_view name, advice;
} kRefused[] = {
    {"stablehlo.infeed", "reads from the host while the program runs; make what it reads an argument"},
    {"stablehlo.outfeed", "writes to the host while the program runs; return what it writes"},
    {"stablehlo.send",
     "sends to another process or to the host; ingot compiles a program for one: return what it sends"},
    {"stablehlo.recv",
     "receives from another process or from the host; ingot compiles a program for one: make what it receives an "
     "argument"},
    {"stablehlo.set_dimension_size",
     "makes a tensor whose size is known only as the program runs; keep the whole tensor, and the size beside it"},
    {"interpreter.run_parallel",
     "runs several processes, or what they exchange with a host; ingot compiles a program for "
     "one"},
};

template <size_t kCount>
bool is_in(const std::string_view (&names)[kCount], std::string_view name) {
  return std::binary_search(std::begin(names), std::end(names), name);
}

}  // namespace

bool is_public_op(std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == name.npos) return false;
  const std::string_view dialect = name.substr(0, dot), op = name.substr(dot + 1);
  return (dialect == "stablehlo" && is_in(kStablehlo, op)) || (dialect == "chlo" && is_in(kChlo, op));
}

std::string_view refusal_of(std::string_view name) {
  for (const auto& row : kRefused) {
    if (row.name == name) return row.advice;
  }
  return "";
}

}  // namespace ingot
