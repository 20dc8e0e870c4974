#include "aot/analysis/block_region.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/analysis/block_part.h"
#include "aot/base/contains.h"
#include "aot/graph/access_map.h"
#include "aot/graph/attributes.h"
#include "aot/loops/contraction.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/contraction.h"
#include "aot/ops/support/tiles.h"

namespace ingot {
namespace {

class BlockMaker {
 public:
  BlockMaker(const Op& kernel, const KernelBlocks& blocks)
      : from_(kernel), blocks_(blocks), made_(std::make_unique<BlockRegion>()), body_(std::make_unique<Block>()) {
    b_.at_end(*body_);
    b_.location = kernel.location;
  }

  std::unique_ptr<BlockRegion> make(std::string* why) {
    Values yielded;
    const Values& results = from_.region().terminator()->operands;
    for (size_t r = 0; r < results.size() && why_.empty(); ++r) yielded.push_back(make_result(static_cast<int>(r)));
    if (!why_.empty()) {
      if (why) *why = why_;
      return nullptr;
    }
    b_.create(kYield, yielded);
    GraphBuilder outer;
    outer.at_end(made_->block);
    outer.location = from_.location;
    std::vector<std::unique_ptr<Block>> regions;
    regions.push_back(std::move(body_));
    made_->kernel =
        outer.create(kKernel, operands_, {{"name", Attr(attr_text(from_.attr_map, "name"))}}, {}, std::move(regions));
    return std::move(made_);
  }

 private:
  Value* fail(const Op* op, const std::string& reason) {
    if (why_.empty()) why_ = (op ? std::string(op->name()) + ": " : "") + reason;
    return nullptr;
  }

  // --- from results to arguments ---

  Value* make_result(int r) {
    const Value* value = from_.region().terminator()->operands[r];
    const Shape& shape = value->type.shape;
    TensorPart parts;
    for (size_t d = 0; d < shape.size(); ++d) {
      const int axis = blocks_.result_axes[r][d];
      if (axis < 0) {
        parts.push_back(whole(shape[d]));
      } else {
        const KernelBlocks::Axis& it = blocks_.axes[axis];
        INGOT_CHECK(it.extent == shape[d] && it.extent % it.block == 0);
        parts.push_back({it.block == it.extent ? BlockStarts{} : BlockStarts{{axis}}, it.block});
      }
    }
    Value* block = make(value, parts);
    made_->results.push_back(flat_starts(parts, shape));
    if (!block || lies_in_line(parts, shape)) return block;
    Value* all = add_argument({BlockRegion::Role::kWhole, r, made_->results.back()}, value->type, value->name);
    Value* zero = ops::constant(b_, splat_int({DType::kI64, {}}, 0));
    Value* updated = ops::dynamic_update_slice(b_, all, block, Values(shape.size(), zero));
    copy_stage(*block->op, *updated->op);
    return updated;
  }

  static void copy_stage(const Op& from, Op& to) {
    const auto stage = from.attr_map.find(kStage);
    if (stage != from.attr_map.end()) to.attr_map.insert_or_assign(kStage, stage->second);
  }

  // The part of a value.
  Value* make(const Value* value, const TensorPart& parts) {
    if (!why_.empty()) return nullptr;
    for (const Made& made : known_) {
      if (made.from == value && made.parts == parts) return made.value;
    }
    Value* part = value->op ? make_from_op(*value, parts) : make_operand(*value, parts);
    if (!part) return nullptr;
    if (part->name.empty()) part->name = value->name;
    if (value->op) copy_stage(*value->op, *part->op);
    known_.push_back({value, parts, part});
    return part;
  }

  Value* add_argument(BlockRegion::Argument argument, const TensorType& type, const std::string& name) {
    made_->arguments.push_back(std::move(argument));
    operands_.push_back(made_->block.add_argument(type, name));
    return body_->add_argument(type, name);
  }

  Value* make_operand(const Value& value, const TensorPart& parts) {
    const Shape& shape = value.type.shape;
    const Shape box = extents(parts);
    const bool is_part = lies_in_line(parts, shape);
    Value* argument = add_argument({BlockRegion::Role::kOperand, value.index, flat_starts(parts, shape)},
                                   {value.type.dtype, is_part ? box : shape}, value.name);
    return is_part ? argument : ops::slice(b_, argument, Shape(shape.size(), 0), box, Shape(shape.size(), 1));
  }

  Value* make_from_op(const Value& value, const TensorPart& parts) {
    const Op& op = *value.op;
    if (op.results.size() != 1) return fail(&op, "has several results");
    const TensorType type{value.type.dtype, extents(parts)};
    if (op.is(kConstant)) return make_constant(op, type);
    if (op.is(kIota)) return make_iota(op, type, parts);
    if (op.is(kSlice)) return make_slice(op, parts);
    if (op.def->root == KernelRoot::kContraction) return make_contraction(op, type, parts);
    if (op.def->root == KernelRoot::kReduce) return make_reduce(op, type, parts);
    if (op.def->is_elementwise) {
      return make_op(op, type, [&](int i) { return op.operand(i)->type.shape.empty() ? TensorPart{} : parts; });
    }
    if (const std::optional<ops::Tiles> tiles = ops::tiles_of(op)) return make_tiles(op, type, parts, *tiles);
    const AccessMap map = access_map(op);
    if (map.is_empty()) return fail(&op, "cannot be made in parts");
    if (!map.is_flat) return make_moved(op, type, parts, map);
    const std::optional<TensorPart> part = reshaped(parts, op.result()->type.shape, op.operand(0)->type.shape);
    if (!part) return fail(&op, "mixes what is cut with what is not");
    return make_op(op, type, [&](int) { return *part; });
  }

  Value* make_constant(const Op& op, const TensorType& type) {
    const LiteralRef all = op.attrs().literal("value");
    if (type.shape == all->type.shape) return ops::constant(b_, all);
    if (!all->is_splat) return fail(&op, "has different elements");
    return ops::constant(b_, std::make_shared<Literal>(Literal{type, all->data, true}));
  }

  Value* make_iota(const Op& op, const TensorType& type, const TensorPart& parts) {
    const int64_t dim = op.attrs().integer("iota_dimension");
    if (parts[dim].starts.empty()) return ops::iota(b_, type, dim);
    return ops::iota_from(b_, type, dim, make_start(parts[dim].starts));
  }

  Value* make_start(const BlockStarts& starts) {
    const auto same = [&](const BlockRegion::Argument& it) {
      return it.role == BlockRegion::Role::kStart && it.starts == starts;
    };
    const auto found = std::ranges::find_if(made_->arguments, same);
    return found != made_->arguments.end()
               ? body_->argument(static_cast<int>(found - made_->arguments.begin()))
               : add_argument({BlockRegion::Role::kStart, -1, starts}, {DType::kI64, {}}, "start");
  }

  Value* make_slice(const Op& op, const TensorPart& parts) {
    const AccessMap map = access_map(op);
    TensorPart from;
    for (const AxisMap& axis : map.pieces[0].axes) {
      const std::optional<DimPart> part = sliced(axis, parts);
      if (!part) return fail(&op, "mixes what is cut with what is not");
      from.push_back(*part);
    }
    Value* x = make(op.operand(0), from);
    if (!x) return nullptr;
    const Shape start = op.attrs().ints("start_indices");
    return ops::slice(b_, x, start, extents(from), op.attrs().ints("strides", Shape(start.size(), 1)));
  }

  Value* make_moved(const Op& op, const TensorType& type, const TensorPart& parts, const AccessMap& map) {
    std::vector<TensorPart> from(op.operands.size());
    for (const AccessPiece& piece : map.pieces) {
      const Shape& shape = op.operand(piece.operand)->type.shape;
      for (size_t j = 0; j < shape.size(); ++j) {
        const std::optional<DimPart> part = moved(piece.axes[j], parts, op.result()->type.shape, shape[j]);
        if (!part) return fail(&op, "mixes what is cut with what is not");
        from[piece.operand].push_back(*part);
      }
    }
    return make_op(op, type, [&](int i) { return from[i]; });
  }

  Value* make_tiles(const Op& op, const TensorType& type, const TensorPart& parts, const ops::Tiles& tiles) {
    const Shape& shape = op.operand(0)->type.shape;
    TensorPart from;
    for (const int64_t extent : shape) from.push_back(whole(extent));
    for (size_t d = 0; d < parts.size(); ++d) {
      if (is_whole(parts[d], op.result()->type.shape[d])) continue;
      const auto same = std::ranges::find(tiles.same_index, static_cast<int>(d));
      if (same == tiles.same_index.end()) return fail(&op, "mixes what is cut with what is not");
      from[same - tiles.same_index.begin()] = parts[d];
    }
    return make_op(op, type, [&](int) { return from; });
  }

  Value* make_contraction(const Op& op, const TensorType& type, const TensorPart& parts) {
    const loops::Contraction space = op.def->contraction(op);
    TensorPart points;
    for (const loops::ContractionDim& dim : space.dims) points.push_back(whole(dim.extent));
    for (size_t j = 0; j < space.out.size(); ++j) {
      if (is_whole(parts[j], op.result()->type.shape[j])) continue;
      const std::optional<int> dim = followed_dim(space.out[j]);
      if (!dim) return fail(&op, "mixes what is cut with what is not");
      points[*dim] = parts[j];
    }
    Shape extent;
    for (const loops::ContractionDim& dim : space.dims) extent.push_back(dim.extent);
    std::vector<TensorPart> from(2);
    for (int i = 0; i < 2; ++i) {
      const std::vector<AxisMap>& axes = i == 0 ? space.lhs : space.rhs;
      for (size_t j = 0; j < axes.size(); ++j) {
        const std::optional<DimPart> part = moved(axes[j], points, extent, op.operand(i)->type.shape[j]);
        if (!part) return fail(&op, "mixes what is cut with what is not");
        from[i].push_back(*part);
      }
    }
    Value* made = make_root(op, type, [&](int i) { return from[i]; });
    if (made) keep_triangles(*made->op, points);
    return made;
  }

  // Products that need not be made, as the block has them: those that are told by how far one dimension is behind the
  // other, from where the block starts along that one on. Of several such dimensions those of the last are kept.
  void keep_triangles(Op& op, const TensorPart& points) {
    const std::vector<loops::ContractionTriangle> triangles = ops::triangles(op);
    BlockStarts start;
    for (const auto& it : triangles) {
      if (points[it.ahead].starts.empty() && !points[it.behind].starts.empty()) start = points[it.behind].starts;
    }
    std::vector<int64_t> kept;
    for (const auto& [ahead, behind, offset] : triangles) {
      if (points[ahead].starts.empty() && points[behind].starts == start)
        kept.insert(kept.end(), {ahead, behind, offset});
    }
    op.attr_map.erase(attributes::kTriangles);
    if (kept.empty()) return;
    op.attr_map.insert_or_assign(attributes::kTriangles, Attr(kept));
    if (!start.empty()) op.add_operand(make_start(start));
  }

  Value* make_reduce(const Op& op, const TensorType& type, const TensorPart& parts) {
    const std::vector<int64_t> reduced = op.attrs().ints("dimensions");
    const Shape& shape = op.operand(0)->type.shape;
    TensorPart from;
    size_t next = 0;
    for (int64_t d = 0; d < std::ssize(shape); ++d)
      from.push_back(contains(reduced, d) ? whole(shape[d]) : parts[next++]);
    return make_root(op, type, [&](int i) { return i == 0 ? from : TensorPart{}; });
  }

  // What takes time is made once.
  Value* make_root(const Op& op, const TensorType& type, const std::function<TensorPart(int)>& parts) {
    if (contains(roots_, &op)) return fail(&op, "would be computed for several parts");
    roots_.push_back(&op);
    return make_op(op, type, parts);
  }

  // The same op on parts of its operands.
  Value* make_op(const Op& op, const TensorType& type, const std::function<TensorPart(int)>& parts) {
    Values operands;
    for (int i = 0; i < std::ssize(op.operands); ++i) {
      Value* operand = make(op.operand(i), parts(i));
      if (!operand) return nullptr;
      operands.push_back(operand);
    }
    std::vector<std::unique_ptr<Block>> regions;
    ValueMap inner;
    for (const auto& region : op.regions) {
      if (!captured_values(*region).empty()) return fail(&op, "its region reads values from outside");
      regions.push_back(copy_block(*region, inner));
    }
    b_.location = op.location;
    return b_.create(*op.def, operands, op.attr_map, {type}, std::move(regions))->result();
  }

  struct Made {
    const Value* from;
    TensorPart parts;
    Value* value;
  };

  const Op& from_;
  const KernelBlocks& blocks_;
  std::unique_ptr<BlockRegion> made_;
  std::unique_ptr<Block> body_;  // of the kernel of one block
  GraphBuilder b_;
  Values operands_;  // of that kernel
  std::vector<Made> known_;
  std::vector<const Op*> roots_;
  std::string why_;
};

}  // namespace

int64_t KernelBlocks::count() const {
  int64_t count = 1;
  for (const Axis& axis : axes) count *= axis.extent / axis.block;
  return count;
}

std::optional<KernelBlocks> blocks_of(const Op& kernel) {
  if (!kernel.attr_map.contains(attributes::kBlocks)) return std::nullopt;
  KernelBlocks blocks;
  const std::vector<int64_t> sizes = kernel.attrs().ints(attributes::kBlocks);
  const std::vector<int64_t> axes = kernel.attrs().ints(attributes::kBlockAxes);
  for (const int64_t block : sizes) blocks.axes.push_back({block, block});
  size_t next = 0;
  for (const auto& result : kernel.results) {
    std::vector<int>& of_result = blocks.result_axes.emplace_back();
    for (const int64_t extent : result->type.shape) {
      const auto axis = static_cast<int>(axes.at(next++));
      of_result.push_back(axis);
      if (axis >= 0) blocks.axes.at(axis).extent = extent;
    }
  }
  return blocks;
}

void set_blocks(Op& kernel, const KernelBlocks& blocks) {
  std::vector<int64_t> sizes, axes;
  for (const KernelBlocks::Axis& axis : blocks.axes) sizes.push_back(axis.block);
  for (const std::vector<int>& of_result : blocks.result_axes)
    axes.insert(axes.end(), of_result.begin(), of_result.end());
  kernel.attr_map.insert_or_assign(attributes::kBlocks, Attr(sizes));
  kernel.attr_map.insert_or_assign(attributes::kBlockAxes, Attr(axes));
}

std::unique_ptr<BlockRegion> block_region(const Op& kernel, const KernelBlocks& blocks, std::string* why) {
  return BlockMaker(kernel, blocks).make(why);
}

}  // namespace ingot
