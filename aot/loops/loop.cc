#include "aot/loops/loop.h"

#include <algorithm>
#include <numeric>

#include "aot/base/divide.h"

namespace ingot::loops {
namespace {

constexpr bool P = true;
constexpr bool M = false;

constexpr ScalarOpInfo kScalarOps[] = {
#define SCALAR_OP(enumerator, text, arity, accepts, kind) {text, arity, accepts, kind},
#include "aot/loops/scalar_ops.def"
};

// The bound of an affine index when each term takes its least (or greatest) value; far ranges saturate.
int64_t bound(const Kernel& kernel, const Index& index, bool greatest) {
  __int128 sum = index.constant;
  for (const Index::Term& term : index.terms) {
    const Var& var = kernel.vars[term.var];
    const bool take_high = (term.coefficient > 0) == greatest;
    sum += static_cast<__int128>(term.coefficient) * (take_high ? var.high : var.low);
  }
  constexpr __int128 kFar = std::numeric_limits<int64_t>::max() / 2;
  return static_cast<int64_t>(std::clamp(sum, -kFar, kFar));
}

Index combine(const Index& a, const Index& b, int64_t factor) {
  Index sum;
  sum.constant = a.constant + b.constant * factor;
  sum.terms.reserve(a.terms.size() + b.terms.size());
  auto i = a.terms.begin();
  auto j = b.terms.begin();
  while (i != a.terms.end() || j != b.terms.end()) {
    Index::Term term;
    if (j == b.terms.end() || (i != a.terms.end() && i->var < j->var)) {
      term = *i++;
    } else if (i == a.terms.end() || j->var < i->var) {
      term = {j->var, j->coefficient * factor};
      ++j;
    } else {
      term = {i->var, i->coefficient + j->coefficient * factor};
      ++i, ++j;
    }
    if (term.coefficient != 0) sum.terms.push_back(term);
  }
  return sum;
}

}  // namespace

const ScalarOpInfo& info(ScalarOp op) { return kScalarOps[static_cast<size_t>(op)]; }

bool accepts(ScalarOp op, DType dtype) {
  const std::string_view letters = info(op).accepts;
  const char letter = is_float(dtype) ? 'F' : is_bool(dtype) ? 'B' : 'I';
  return letters.find(letter) != std::string_view::npos || (dtype == DType::kI32 && letters == "W") ||
         (dtype == DType::kF32 && letters == "S");
}

DType register_dtype(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16 ? DType::kF32 : dtype; }

DType result_dtype(ScalarOp op, DType dtype) {
  const bool is_test = op == ScalarOp::kIsFinite || (op >= ScalarOp::kEqual && op <= ScalarOp::kGreaterEqual);
  return is_test ? DType::kI1 : dtype;
}

DType operand_dtype(ScalarOp op, int k, DType dtype) {
  if (op == ScalarOp::kSelect && k == 0) return DType::kI1;
  return is_dot_pairs(op) && k < 2 ? DType::kI32 : dtype;
}

Index Index::variable(VarId var, int64_t coefficient) {
  Index index;
  if (coefficient != 0) index.terms.push_back({var, coefficient});
  return index;
}

int64_t Index::coefficient(VarId var) const {
  for (const Term& term : terms) {
    if (term.var == var) return term.coefficient;
  }
  return 0;
}

Index Index::without(VarId var) const {
  Index rest = *this;
  std::erase_if(rest.terms, [&](const Term& term) { return term.var == var; });
  return rest;
}

Index operator+(const Index& a, const Index& b) { return combine(a, b, 1); }
Index operator-(const Index& a, const Index& b) { return combine(a, b, -1); }
Index operator*(const Index& a, int64_t factor) { return combine(Index(), a, factor); }

Kernel::Kernel() {
  vars.push_back({.name = "task", .kind = VarKind::kTask, .low = 0, .high = 0});
  vars.push_back({.name = "lane", .kind = VarKind::kLane, .low = 0, .high = 0});
}

bool Kernel::has_lanes(const Index& index) const {
  return std::ranges::any_of(index.terms, [&](const Index::Term& term) { return vars[term.var].lanes > 1; });
}

bool Kernel::is_contiguous(const Index& index) const {
  return lanes() > 1 && index.coefficient(kLaneVar) == 1 && !has_lanes(index.without(kLaneVar));
}

int64_t Kernel::low(const Index& index) const { return bound(*this, index, false); }
int64_t Kernel::high(const Index& index) const { return bound(*this, index, true); }

void lay_out_scratch(Kernel& kernel) {
  constexpr int64_t kAlignmentBytes = 64;
  kernel.scratch_bytes = 0;
  for (Buffer& buffer : kernel.buffers) {
    if (buffer.role != BufferRole::kScratch) continue;
    buffer.scratch_offset_bytes = kernel.scratch_bytes;
    const int64_t bytes = buffer.elements * ingot::info(buffer.dtype).bytes;
    kernel.scratch_bytes += round_up(bytes, kAlignmentBytes);
  }
}

void set_loop_range(const Kernel& kernel, const Stmt& loop, Var& var) {
  int64_t end = kernel.high(loop.upper);
  for (const Index& also : loop.upper_also) end = std::min(end, kernel.high(also));
  var.low = kernel.low(loop.lower);
  // With a constant start the last value is known exactly.
  var.high = loop.lower.is_constant() ? var.low + (end - 1 - var.low) / loop.step * loop.step : end - 1;
  var.multiple_of = std::gcd(loop.step, loop.lower.constant);
  for (const Index::Term& term : loop.lower.terms) {
    var.multiple_of = std::gcd(var.multiple_of, term.coefficient * kernel.vars[term.var].multiple_of);
  }
}

}  // namespace ingot::loops
