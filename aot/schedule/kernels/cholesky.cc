// cholesky: a matrix is a task. In scratch it is U of A = Uᵀ U, row by row: each finished row is subtracted from those
// below it, in vectors along the rows. These begin where a vector does, at or before the diagonal; what they do beside
// it on the left is never read.
#include <algorithm>

#include "aot/base/divide.h"
#include "aot/loops/algebra.h"
#include "aot/schedule/step.h"
#include "aot/schedule/templates.h"

namespace ingot::schedule {
namespace {

using loops::BufferId;
using loops::Expr;
using loops::Index;
using loops::Scalar;
using loops::ScalarOp;

class Cholesky {
 public:
  Cholesky(Draft& draft, const Op& root)
      : root_(root),
        a_(root.operand(0)),
        lower_(root.attrs().boolean("lower", false)),
        size_(a_->type.shape.back()),
        batch_shape_(a_->type.shape.begin(), a_->type.shape.end() - 2),
        register_dtype_(loops::register_dtype(a_->type.dtype)),
        step_(draft, draft.target().vector_bytes / info(register_dtype_).bytes) {
    step_.read({a_});
    step_.write({root.result()}, read_in_place(draft, {a_}));
  }

  void build() {
    loops::KernelBuilder& b = step_.b();
    if (a_->type.elements() == 0) {
      b.set_task_count(0);
    } else {
      pitch_ = round_up(size_, b.vector_lanes());
      rows_ = b.scratch("rows", register_dtype_, size_ * pitch_);
      for_each_unit(b, "matrix", element_count(batch_shape_), wanted_tasks(step_.draft(), work_ns()),
                    [&](const Index& matrix) {
                      const std::vector<Index> batch = loops::unflatten(b, matrix, batch_shape_);
                      read(batch);
                      factor();
                      write(batch);
                    });
    }
    step_.finish();
  }

 private:
  double work_ns() const {
    constexpr double kFlopsPerProduct = 3;
    const double products = static_cast<double>(a_->type.elements() * size_) / 3;
    return step_.draft().target().machine.flop_ns * kFlopsPerProduct * products;
  }

  // Where the element of U in row i and column j belongs in A and in the result.
  std::vector<Index> place(const std::vector<Index>& batch, const Index& i, const Index& j) const {
    std::vector<Index> at = batch;
    at.push_back(lower_ ? j : i);
    at.push_back(lower_ ? i : j);
    return at;
  }

  Index flat(const Index& i, const Index& j) const { return i * pitch_ + j; }

  void read(const std::vector<Index>& batch) {
    loops::KernelBuilder& b = step_.b();
    b.loop("i", 0, size_, 1, [&](const Index& i) {
      along_row(0, [&](const Index& j) {
        Pull::Scope scope(step_.pull());
        b.store(rows_, flat(i, j), step_.pull().element(a_, place(batch, i, j), b.in_range(j, 0, size_)));
      });
    });
  }

  // body(j) for vectors of columns from the one that has column `first` to the end.
  void along_row(const Index& first, const std::function<void(const Index&)>& body) {
    loops::KernelBuilder& b = step_.b();
    const int64_t lanes = b.vector_lanes();
    b.loop("j", b.divide(first, lanes) * lanes, size_, lanes, [&](const Index& j) { body(j + b.lane()); });
  }

  void factor() {
    loops::KernelBuilder& b = step_.b();
    b.loop("k", 0, size_, 1, [&](const Index& k) {
      const Expr pivot = b.let("pivot", b.apply(ScalarOp::kSqrt, {b.load(rows_, flat(k, k))}));
      along_row(k, [&](const Index& j) {
        b.store(rows_, flat(k, j), b.apply(ScalarOp::kDivide, {b.load(rows_, flat(k, j)), pivot}));
      });
      b.store(rows_, flat(k, k), pivot);
      b.loop("i", k + 1, size_, 1, [&](const Index& i) {
        const Expr factor = b.let("factor", -Scalar(b, b.load(rows_, flat(k, i))));
        along_row(i, [&](const Index& j) {
          const Expr row = b.load(rows_, flat(i, j));
          b.store(rows_, flat(i, j), b.apply(ScalarOp::kFma, {b.load(rows_, flat(k, j)), factor, row}));
        });
      });
    });
  }

  void write(const std::vector<Index>& batch) {
    loops::KernelBuilder& b = step_.b();
    b.loop("i", 0, size_, 1, [&](const Index& i) {
      along_row(0, [&](const Index& j) {
        const Expr is_inside = b.apply(ScalarOp::kGreaterEqual, {b.index_value(j), b.index_value(i)});
        const Expr element =
            b.apply(ScalarOp::kSelect, {is_inside, b.load(rows_, flat(i, j)), b.constant(register_dtype_, 0)});
        step_.store(root_.result(), place(batch, i, j), element, b.in_range(j, 0, size_));
      });
    });
  }

  const Op& root_;
  Value* a_;
  bool lower_;
  int64_t size_;
  Shape batch_shape_;
  DType register_dtype_;
  Step step_;
  int64_t pitch_ = 0;  // elements from row to row
  BufferId rows_ = -1;
};

}  // namespace

void lower_cholesky(Draft& draft, const Op& root) { Cholesky(draft, root).build(); }

}  // namespace ingot::schedule
