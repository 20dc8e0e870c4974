// Random kernels that stay inside their buffers: nested loops, conditions, tiles, masks,
// gathers, and values of every kind.
#pragma once

#include <random>

#include "aot/loops/builder.h"

namespace ingot::loops {

class RandomKernel {
 public:
  RandomKernel(uint64_t seed, int lanes) : random_(seed), b_("random", lanes) {}

  Kernel make() {
    for (int k = 0; k < 3; ++k) b_.input("in" + std::to_string(k), any_dtype(), kElements);
    for (int k = 0; k < 2; ++k) b_.output("out" + std::to_string(k), any_dtype(), kElements);
    b_.scratch("scratch", DType::kF32, kElements);
    for (int k = 0; k < 2; ++k) {
      const DType dtype = register_dtype(any_dtype());
      tiles_.push_back(b_.tile("t" + std::to_string(k), dtype, pick(0, 1) == 0 ? 1 : b_.vector_lanes(), {3}));
    }
    b_.set_task_count(pick(1, 3));
    for (size_t t = 0; t < tiles_.size(); ++t) {
      b_.unrolled("z", 3, [&](Index z) {
        const Tile& tile = b_.kernel().tiles[tiles_[t]];
        b_.set(tiles_[t], {z}, fit(leaf(tile.dtype), tile.lanes > 1));
      });
    }
    // Scratch and outputs are undefined before they are written.
    for (const BufferId buffer : {3, 4, 5}) {
      b_.loop("i", 0, kElements, 1, [&](Index i) {
        b_.store(buffer, i, fit(value(register_dtype(b_.kernel().buffers[buffer].dtype), 1), false));
      });
    }
    readable_ = 6;
    indices_ = {b_.task()};
    block(3);
    return b_.finish();
  }

 private:
  static constexpr int64_t kElements = 200;

  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }

  DType any_dtype() {
    const auto dtype = static_cast<DType>(pick(0, kDTypeCount - 1));
    return is_complex(dtype) || is_narrow_float(dtype) ? any_dtype() : dtype;  // kernels have none
  }

  void block(int depth) {
    const int64_t count = pick(1, 4);
    for (int64_t k = 0; k < count; ++k) statement(depth);
  }

  void statement(int depth) {
    const int64_t kind = pick(0, depth > 0 ? 6 : 3);
    const size_t known = indices_.size();
    if (kind <= 1) {
      const auto buffer = static_cast<BufferId>(pick(3, 5));
      const Index at = place();
      const DType dtype = register_dtype(b_.kernel().buffers[buffer].dtype);
      const bool is_vector = b_.has_lanes(at);
      const Expr mask = pick(0, 2) == 0 ? fit(value(DType::kI1, 1), is_vector) : nullptr;
      b_.store(buffer, at, fit(value(dtype, 3), is_vector), b_.both(b_.in_range(at, 0, kElements), mask));
    } else if (kind == 2 && pick(0, 3) == 0) {
      transposed();
    } else if (kind == 2) {
      const TileId tile = tiles_[pick(0, 1)];
      const Tile& info = b_.kernel().tiles[tile];
      b_.set(tile, {pick(0, 2)}, fit(value(info.dtype, 3), info.lanes > 1));
    } else if (kind == 3) {
      lets_.push_back(b_.let("v", value(register_dtype(any_dtype()), 2)));
      if (depth < 3) lets_.pop_back();  // out of scope once the block ends
    } else if (kind == 4) {
      b_.loop(
          "i", pick(0, 3), Index(pick(4, 20)) + indices_[pick(0, known - 1)] * pick(0, 1), pick(1, 9),
          [&](Index i) { nested(i, depth); }, pick(0, 1) == 0 ? std::vector<Index>{} : std::vector<Index>{pick(1, 30)});
    } else if (kind == 5) {
      b_.unrolled("u", pick(1, 3), [&](Index u) {
        const TileId tile = tiles_[pick(0, 1)];
        b_.set(tile, {u}, b_.read(tile, {u}));
        nested(u, depth);
      });
    } else {
      const Expr condition = b_.in_range(indices_[pick(0, known - 1)], pick(0, 2), pick(2, 9));
      b_.if_then(condition, [&] { nested(indices_[0], depth); }, [&] { nested(indices_[0], depth); });
    }
    indices_.resize(known);
  }

  // One vector of a square of them, transposed.
  void transposed() {
    const TileId into = tiles_[pick(0, 1)];
    const Tile to = b_.kernel().tiles[into];
    const int lanes = b_.vector_lanes();
    const TileId square = b_.tile("square", to.dtype, lanes, {lanes});
    for (int k = 0; k < lanes; ++k) b_.set(square, {k}, fit(value(to.dtype, 1), lanes > 1));
    b_.transpose(square);
    b_.set(into, {pick(0, 2)}, fit(b_.read(square, {pick(0, lanes - 1)}), to.lanes > 1));
  }

  void nested(const Index& index, int depth) {
    const size_t known = indices_.size();
    const size_t lets = lets_.size();
    indices_.push_back(index);
    block(depth - 1);
    indices_.resize(known);
    lets_.resize(lets);
  }

  // A scalar, contiguous, strided or gathered place; may leave the buffer.
  Index place() {
    Index index = indices_[pick(0, indices_.size() - 1)] * pick(1, 9) + pick(-4, 60);
    if (pick(0, 2) == 0) index = index + indices_[pick(0, indices_.size() - 1)];
    if (pick(0, 3) > 0) index = index + b_.lane() * (pick(0, 1) == 0 ? 1 : pick(-3, 3));
    if (pick(0, 4) == 0) index = b_.divide(index, pick(1, 9)) + b_.modulo(index, pick(1, 40));
    return index;
  }

  // A single place takes a single value.
  Expr fit(Expr value, bool is_vector) {
    return is_vector || value->lanes == 1 ? value : b_.reduce(reduction(value->dtype), value);
  }

  Expr leaf(DType dtype) {
    switch (pick(0, 2)) {
      case 0:
        return b_.constant(dtype, static_cast<double>(pick(-5, 5)) / 2);
      case 1:
        return b_.index_value(indices_.empty() ? Index(3) : indices_[0] + b_.lane() * pick(0, 3), dtype);
      default:
        return b_.constant_int(dtype, pick(-9, 9));
    }
  }

  Expr value(DType dtype, int depth) {
    switch (depth == 0 ? pick(0, 1) : pick(0, 8)) {
      case 0:
        return leaf(dtype);
      case 1:
      case 2: {
        const auto buffer = static_cast<BufferId>(pick(0, readable_ - 1));
        const Index at = indices_.empty() ? b_.lane() : place();
        return b_.convert(dtype, b_.load(buffer, at, b_.in_range(at, 0, kElements)));
      }
      case 3:
        return b_.convert(dtype, b_.read(tiles_[pick(0, 1)], {pick(0, 2)}));
      case 4:
        return lets_.empty() ? leaf(dtype) : b_.convert(dtype, lets_[pick(0, lets_.size() - 1)]);
      case 5: {
        if (!is_float(dtype)) return leaf(dtype);
        return b_.round(pick(0, 1) == 0 ? DType::kF16 : DType::kBF16, value(dtype, depth - 1));
      }
      case 6: {
        const Expr arg = value(dtype, depth - 1);
        return b_.reduce(reduction(dtype), arg);
      }
      default:
        return operation(dtype, depth);
    }
  }

  ScalarOp reduction(DType dtype) {
    if (pick(0, 1) == 0) return ScalarOp::kMaximum;
    return is_float(dtype) || is_integer(dtype) ? ScalarOp::kAdd : ScalarOp::kOr;
  }

  Expr operation(DType dtype, int depth) {
    for (;;) {
      const auto op = static_cast<ScalarOp>(pick(0, static_cast<int64_t>(ScalarOp::kSelect)));
      if (result_dtype(op, dtype) != dtype || !accepts(op, dtype)) continue;
      std::vector<Expr> args;
      for (int k = 0; k < info(op).arity; ++k) {
        args.push_back(value(operand_dtype(op, k, dtype), depth - 1));
      }
      return b_.apply(op, std::move(args));
    }
  }

  std::mt19937_64 random_;
  KernelBuilder b_;
  int readable_ = 3;  // buffers whose contents are defined: the inputs, later all
  std::vector<TileId> tiles_;
  std::vector<Index> indices_;
  std::vector<Expr> lets_;
};

inline Kernel random_kernel(uint64_t seed, int lanes) { return RandomKernel(seed, lanes).make(); }

}  // namespace ingot::loops
