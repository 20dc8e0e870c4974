#include "aot/schedule/contraction/describe_plan.h"

#include <fmt/format.h>

namespace ingot::schedule {
namespace {

std::string_view rows_packing(const ContractionPlan& plan) {
  switch (plan.pack_rows) {
    case Packing::kNone:
      return "read in place";
    case Packing::kWhole:
      return "packed whole in each task";
    case Packing::kBlock:
      return "packed a block at a time";
  }
  return "";
}

std::string columns_packing(const ContractionPlan& plan) {
  if (!plan.pack_columns) return "read in place";
  const std::string_view when = plan.columns_are_hoisted ? "once before the loop"
                                : plan.prepare_columns   ? "once for all tasks"
                                                         : "in each task";
  return fmt::format("packed in {} {}", plan.columns_in_panels ? "panels" : "rows", when);
}

}  // namespace

std::string describe(const ContractionPlan& plan) {
  return fmt::format(
      "{}{} rows x {} columns x depth {}; tile {}x{}; rows {}; columns {}, in blocks of {}; depth in blocks of {}; "
      "tasks {} (batch) x {} (rows) x {} (columns) x {} (depth)",
      plan.batch_count() == 1 ? "" : fmt::format("batch {} of ", plan.batch_count()), plan.row_count(),
      plan.columns.total(), plan.depth.total(), plan.tile_rows, plan.tile_columns(), rows_packing(plan),
      columns_packing(plan), plan.columns.width(), plan.depth.width(), plan.batch_count(), plan.row_parts,
      plan.column_parts, plan.depth_parts);
}

}  // namespace ingot::schedule
