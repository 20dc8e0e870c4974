// Emits the kernel of a planned contraction: packing, the register tile, and what is done with its result.
#pragma once

#include "aot/schedule/contraction/contraction_plan.h"

namespace ingot::schedule {

class ContractionKernel {
 public:
  // What is done with finished elements of the contraction at `index` of its result.
  using Finish =
      std::function<void(const std::vector<loops::Index>& index, const loops::Expr& sum, const loops::Expr& mask)>;

  // How `finish` may be called. `is_linear`: at indices that run past their extent in the innermost dimension.
  // `is_long`: so much code that a loop over a tile's rows beats spelling each of them out.
  struct Epilogue {
    bool is_linear = false;
    bool is_long = false;
  };

  // `packed`: a buffer with all columns packed (-1: none).
  ContractionKernel(Step& step, const ContractionPlan& plan, Epilogue epilogue, loops::BufferId packed = -1);

  // Elements of all columns packed.
  static int64_t packed_elements(const ContractionPlan& plan);
  // A kernel that packs all columns into an output, and nothing else.
  static void emit_packing(Step& step, const ContractionPlan& plan, loops::BufferId packed);

  // The whole kernel, and its scratch: after the step's inputs and outputs. `finish` gets whole sums, or with
  // depth_parts > 1 those of part `depth_part`.
  void emit(const Finish& finish);
  const loops::Index& depth_part() const { return depth_part_; }

 private:
  using Indices = std::vector<loops::Index>;

  // A place within one block: of columns or of depth.
  struct BlockAt {
    loops::Index start;     // of the cut axis
    loops::Index position;  // of the block's first element, of all
  };
  // Where an operand keeps the elements that the register tile reads: start + row * row_step + k * depth_step.
  struct Panel {
    loops::BufferId buffer;
    loops::Index start;
    int64_t row_step = 0;
    int64_t depth_step = 0;
  };
  struct Tile {
    loops::Index row;  // first, of all rows
    int rows;
    loops::Index column;  // first, within the block
    int64_t columns;      // less than the tile's width at the edge
  };

  static int64_t block_elements(const ContractionPlan& plan);  // of a packed block of columns
  void declare_scratch();
  // Where the block of columns begins that is packed, of all that are.
  void set_packed_block(const loops::Index& columns, const loops::Index& depth);
  BlockAt enter_block(const Blocked& blocked, const loops::Index& block);
  void set_axis(const Axis& axis, const loops::Index& i);
  void emit_rows(const std::function<void(const loops::Index& row, int rows)>& body, const loops::Index& first,
                 int64_t count);
  void emit_panels(const BlockAt& block, const std::function<void(const loops::Index& column, int64_t columns)>& body);

  // An operand's place along one of its dimensions at the current point, in units of 1 / divisor; whether it exists.
  loops::Index place(const AxisMap& access) const;
  loops::Expr exists(const AxisMap& access, int64_t extent);
  // One element (or vector of them) of an operand at the current point, in the register dtype; 0 where there is none.
  // `along`: the axis that is being walked in vectors; what does not depend on it is known to exist.
  loops::Expr operand_element(const ContractionSide& side, const loops::Expr& mask, const Axis* along = nullptr);
  // Whether the operand has elements at the current point as far as that does not depend on `along`; null when always.
  loops::Expr exists_beside(const ContractionSide& side, const Axis& along);
  // A block of the depth: one range after the other, outermost first; never empty.
  struct DepthRange {
    Axis axis;
    loops::Index start;
    int64_t count;
    bool is_cut;
  };
  using DepthWalk = std::vector<DepthRange>;
  using DepthBody = std::function<void(const loops::Index& k, const loops::Expr& mask)>;
  DepthWalk depth_walk(const BlockAt& block, bool whole) const;
  // With ranges that lie in line in an operand walked as one.
  DepthWalk merged(const DepthWalk& walk, const ContractionSide& side) const;
  loops::Expr enter_depth(const DepthRange& range, const loops::Index& i);  // whether there is such a place
  void walk_outer_depth(const DepthWalk& walk, const DepthBody& body);      // all ranges but the last
  void walk_last_depth(const DepthWalk& walk, const Stretch& stretch, bool vectors, const loops::Index& position,
                       const loops::Expr& mask, const DepthBody& body);
  void walk_depth(const DepthWalk& walk, const Stretch& stretch, const DepthBody& body);
  void pack_columns(const BlockAt& columns, const BlockAt& depth);
  // Calls `walk` with what copies one vector along the last axis of columns: where it goes, where on the axis it is, and
  // what of it counts; where the operand has none of them, with what stores zeros.
  using CopyVector = std::function<void(const loops::Index& to, const loops::Index& at, const loops::Expr& mask)>;
  void copy_columns(const Stretch& stretch, const std::function<void(const CopyVector&)>& walk);
  void pack_panels(const BlockAt& columns, const BlockAt& depth, const Stretch& stretch);
  void pack_block_rows(const BlockAt& columns, const BlockAt& depth, const Stretch& stretch);
  void transpose_columns(const BlockAt& columns, const BlockAt& depth, const Stretch& stretch);
  // `whole`: all of the depth, else one block.
  void pack_rows(const loops::Index& first, int64_t count, const BlockAt& depth, bool whole);
  void pack_rows_by_row(const loops::Index& first, int64_t count, const DepthWalk& walk, const Stretch& stretch);
  void pack_rows_across(const loops::Index& first, int64_t count, const DepthWalk& walk, const Stretch& stretch);
  void transpose_rows(const loops::Index& first, int64_t count, const DepthWalk& walk, const Stretch& stretch);
  // Walks the depth in squares of vectors that run along it: element(i) is vector i, masked, of the square at hand;
  // store(k, vector) takes transposed vector k.
  using SquareElement = std::function<loops::Expr(int64_t i, const loops::Expr& mask)>;
  using SquareStore = std::function<void(const loops::Index& k, const loops::Expr& vector)>;
  void transpose_squares(const DepthWalk& walk, const Stretch& stretch, const SquareElement& element,
                         const SquareStore& store);
  void enter_row(const loops::Index& row);

  Panel rows_panel(const Stretch& stretch, const loops::Index& row, const loops::Index& packed_first,
                   const BlockAt& depth) const;
  Panel columns_panel(const BlockAt& columns, const loops::Index& column, const BlockAt& depth) const;
  // `a`: one for each stretch of the depth.
  void emit_tile(const Tile& tile, const std::vector<Panel>& a, const Panel& b, const BlockAt& columns,
                 const Finish& finish);
  void emit_finish(const Tile& tile, const loops::Index& r, const loops::Index& v, const BlockAt& columns,
                   const loops::Expr& sum, const Finish& finish);
  void emit_column_block(const loops::Index& block, const Finish& finish);
  loops::Expr column_mask(const Tile& tile, const loops::Index& v) const;
  int64_t flat_origin(const ContractionSide& side) const { return side.constant(); }

  Step& step_;
  loops::KernelBuilder& b_;
  const ContractionPlan& plan_;
  DType held_;
  Epilogue epilogue_;
  Indices point_;  // of the iteration space
  loops::Index first_row_, depth_part_, first_depth_block_;
  loops::BufferId packed_rows_ = -1, packed_columns_ = -1, sums_ = -1, tile_ = -1;
  bool is_prepared_ = false;  // all columns are packed
  loops::Index packed_start_ = 0;
  int64_t rows_pitch_ = 0, columns_pitch_ = 0, sums_pitch_ = 0;
};

}  // namespace ingot::schedule
