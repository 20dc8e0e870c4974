#include "aot/ops/support/moved_element.h"

#include "aot/ops/support/clamped_start.h"

namespace ingot::ops {
namespace {

using loops::Expr;
using loops::Index;
using loops::ScalarOp;

// The nearest index of an operand: a masked load far outside of it takes processors hundreds of cycles.
Index nearest(loops::KernelBuilder& b, const Index& at, int64_t extent) {
  Expr value = b.index_value(at);
  value = b.apply(ScalarOp::kMaximum, {value, b.constant_int(value->dtype, 0)});
  value = b.apply(ScalarOp::kMinimum, {value, b.constant_int(value->dtype, extent - 1)});
  return b.let_index("inside", value, 0, extent - 1);
}

// Where a piece has the wanted element.
struct Place {
  std::vector<Index> at;
  Expr exists;  // null: everywhere
};

class PieceReader {
 public:
  PieceReader(loops::ElementArgs& args, const AccessPiece& piece)
      : args_(args), b_(args.b), piece_(piece), shape_(args.op.operand(piece.operand)->type.shape) {}

  // Null where the piece has none of what is wanted.
  Expr element(const Expr& beneath) {
    if (element_count(shape_) == 0) return nullptr;
    if (shape_.empty()) return scalar_operand(args_, piece_.operand);
    Place place;
    for (size_t d = 0; d < shape_.size(); ++d) {
      if (!add_dim(place, piece_.axes[d], shape_[d])) return nullptr;
    }
    if (!place.exists) return args_.operand_at(piece_.operand, place.at);
    const Expr here = args_.operand_if(piece_.operand, place.at, place.exists);
    return beneath ? b_.apply(ScalarOp::kSelect, {place.exists, here, beneath}) : here;
  }

 private:
  // False where no index that is wanted lies within the dimension.
  bool add_dim(Place& place, const AxisMap& axis, int64_t extent) {
    Index at = axis.constant;
    for (size_t i = 0; i < args_.index.size(); ++i) at = at + args_.index[i] * axis.coefficients[i];
    if (axis.start >= 0) at = at + scalar_start(args_, axis.start, room(axis, extent));
    if (!axis.always && !bound(place, at, axis.divisor, extent)) return false;
    place.at.push_back(at);
    return true;
  }

  bool bound(Place& place, Index& at, int64_t divisor, int64_t extent) {
    const loops::Kernel& kernel = b_.kernel();
    if (kernel.high(at) < 0 || kernel.low(at) >= extent * divisor) return false;
    if (divisor > 1) {
      place.exists = b_.both(place.exists, b_.in_range(b_.modulo(at, divisor), 0, 1));
      at = b_.divide(at, divisor);
    }
    const Expr inside = b_.in_range(at, 0, extent);
    if (inside && !b_.has_lanes(at)) at = nearest(b_, at, extent);
    place.exists = b_.both(place.exists, inside);
    return true;
  }

  // The greatest start for which every point of the result has an element.
  int64_t room(const AxisMap& axis, int64_t extent) const {
    const Shape& space = args_.op.result()->type.shape;
    int64_t last = axis.constant;
    for (size_t i = 0; i < space.size(); ++i) last += axis.coefficients[i] * (space[i] - 1);
    return extent - 1 - last;
  }

  loops::ElementArgs& args_;
  loops::KernelBuilder& b_;
  const AccessPiece& piece_;
  const Shape& shape_;
};

}  // namespace

Expr moved_element(loops::ElementArgs& args, const AccessMap& map) {
  Expr value;
  for (const AccessPiece& piece : map.pieces) {
    if (Expr element = PieceReader(args, piece).element(value)) value = std::move(element);
  }
  return value ? value : args.b.constant_int(loops::register_dtype(args.dtype()), 0);
}

}  // namespace ingot::ops
