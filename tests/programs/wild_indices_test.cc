// Indices that a stranger chooses, of every integer type, from inputs and from state: gathers clamp them, scatters drop
// what they name outside, and no kernel leaves its place.
#include <fmt/format.h>

#include <iostream>

#include "aot/frontend/stablehlo/import.h"
#include "aot/graph/float_bits.h"
#include "aot/graph/literal.h"
#include "aot/graph/text/parse.h"
#include "aot/ops/support/build.h"
#include "tests/engine/guarded_session.h"
#include "tests/support/compiled_program.h"
#include "tests/support/environment.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

// A function that finds elements of %x, a tensor<7x5xf32>, by %i, where I stands for the type of its elements. Others
// promise what a stranger does not keep: indices in order, or each once.
struct Form {
  const char* name;
  const char* indices;
  const char* result;
  const char* body;
};

#define INGOT_ADD                                                                                  \
  "({^bb0(%a: tensor<f32>, %b: tensor<f32>): %s = stablehlo.add %a, %b : tensor<f32>\n stablehlo." \
  "return %s : tensor<f32>})"
#define INGOT_SECOND "({^bb0(%a: tensor<f32>, %b: tensor<f32>): stablehlo.return %b : tensor<f32>})"
#define INGOT_SCALARS                                                                                 \
  "%p = stablehlo.slice %i [0:1] : (tensor<2xI>) -> tensor<1xI>\n %j = stablehlo.reshape %p : "       \
  "(tensor<1xI>) -> tensor<I>\n %q = stablehlo.slice %i [1:2] : (tensor<2xI>) -> tensor<1xI>\n %k = " \
  "stablehlo.reshape %q : (tensor<1xI>) -> tensor<I>\n "

const Form kForms[] = {
    {"gather_rows", "6x1", "6x5",
     R"(%y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims =
     [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<7x5xf32>,
     tensor<6x1xI>) -> tensor<6x5xf32>)"},
    {"gather_windows_in_order", "3x2", "3x2x4",
     R"(%y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map =
     [1, 0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 2, 4>}> : (tensor<7x5xf32>,
     tensor<3x2xI>) -> tensor<3x2x4xf32>)"},
    {"gather_of_sums", "6x1", "6x5",
     R"(%n = stablehlo.add %i, %i : tensor<6x1xI>
     %y = "stablehlo.gather"(%x, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims =
     [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<7x5xf32>,
     tensor<6x1xI>) -> tensor<6x5xf32>)"},
    {"scatter_add_of_rows", "6x1", "7x5",
     R"(%u = stablehlo.constant dense<0.5> : tensor<6x5xf32>
     %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
     inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> )" INGOT_ADD
     R"( : (tensor<7x5xf32>, tensor<6x1xI>, tensor<6x5xf32>) -> tensor<7x5xf32>)"},
    {"scatter_of_points_each_once", "4x2", "7x5",
     R"(%u = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
     %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1],
     scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 1>, indices_are_sorted = true, unique_indices = true}> )" INGOT_SECOND
     R"( : (tensor<7x5xf32>, tensor<4x2xI>, tensor<4xf32>) -> tensor<7x5xf32>)"},
    {"scatter_of_windows", "2x2", "7x5",
     R"(%u = stablehlo.constant dense<2.0> : tensor<2x3x2xf32>
     %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2],
     scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> )" INGOT_SECOND
     R"( : (tensor<7x5xf32>, tensor<2x2xI>, tensor<2x3x2xf32>) -> tensor<7x5xf32>)"},
    {"dynamic_slice", "2", "3x2",
     INGOT_SCALARS R"(%y = stablehlo.dynamic_slice %x, %j, %k, sizes = [3, 2] : (tensor<7x5xf32>, tensor<I>, tensor<I>)
     -> tensor<3x2xf32>)"},
    {"dynamic_update_slice", "2", "7x5", INGOT_SCALARS R"(%u = stablehlo.constant dense<9.0> : tensor<3x2xf32>
     %y = stablehlo.dynamic_update_slice %x, %u, %j, %k : (tensor<7x5xf32>, tensor<3x2xf32>, tensor<I>, tensor<I>)
     -> tensor<7x5xf32>)"},
    {"case", "2", "7x5", INGOT_SCALARS R"(%c = stablehlo.convert %j : (tensor<I>) -> tensor<i32>
     %y = "stablehlo.case"(%c) ({ stablehlo.return %x : tensor<7x5xf32> }, { %n = stablehlo.negate %x : tensor<7x5xf32>
     stablehlo.return %n : tensor<7x5xf32> }) : (tensor<i32>) -> tensor<7x5xf32>)"},
};

// Every form with every type of indices; from inputs and from state in turn.
std::unique_ptr<Module> make_wild_module() {
  std::string text;
  int count = 0;
  for (const Form& form : kForms) {
    for (const char* type : {"i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"}) {
      const std::string name = fmt::format("{}_{}", form.name, type);
      const std::string place = count++ % 2 ? "ingot.state = \"" + name + "\"" : "ingot.name = \"i\"";
      const std::string function = fmt::format(
          "func.func public @{}(%x: tensor<7x5xf32> {{ingot.name = \"x\"}}, %i: tensor<{}xI> {{{}}}) -> "
          "(tensor<{}xf32> "
          "{{ingot.name = \"y\"}}) {{\n {}\n return %y : tensor<{}xf32>\n}}\n",
          name, form.indices, place, form.result, form.body, form.result);
      for (size_t at = 0; at < function.size(); ++at) {
        const bool is_type = function[at] == 'I' && function[at + 1] == '>';
        text += is_type ? std::string(type) : std::string(1, function[at]);
      }
    }
  }
  std::unique_ptr<Module> module = parse_module(text, "wild_indices.mlir", all_ops());
  import_stablehlo(*module);
  return module;
}

const Module& wild_module() {
  static const std::unique_ptr<Module> module = make_wild_module();
  return *module;
}

CompiledProgram& wild_program() {
  static CompiledProgram program(wild_module());
  return program;
}

TEST(WildIndices, FindWhatTheEvaluatorFinds) {
  Random random(1);
  for (const auto& function : wild_module().functions) {
    SCOPED_TRACE(function->name);
    const TensorType& type = function->body.argument(1)->type;
    for (int round = 0; round < 5; ++round) {
      RefTensor indices(type);
      for (int64_t& index : indices.i) {
        const int64_t wild = random.chance(0.5) ? random.below(12) - 3 : static_cast<int64_t>(random.bits());
        index = wrap_to(type.dtype, wild);
      }
      const NamedTensors inputs = {{"x", random_tensor(function->body.argument(0)->type, random)}, {"i", indices}};
      NamedTensors state = {{function->name, indices}}, same_state = state;
      const NamedTensors found = wild_program().run(function->name, 2, state, inputs);
      const NamedTensors wanted = ReferenceExecutor().run(wild_module(), function->name, same_state, inputs);
      expect_equal({found.at("y")}, {wanted.at("y")}, {.ulp = 4});
    }
  }
}

// INGOT_KINDS says with how many kinds of values.
TEST(WildIndices, StayInTheirPlaces) {
  const int64_t kinds = number_from_environment("INGOT_KINDS", 2);
  const bundle::BundleSpec& spec = wild_program().spec();
  int runs = 0;
  for (const bundle::Target& target : spec.targets) {
    ingot_open_options options = {};
    options.target = target.name.c_str();
    const test::OpenBundle bundle(bundle::write_bundle(spec), &options);
    if (bundle.status == INGOT_NO_TARGET) continue;
    ASSERT_EQ(bundle.status, INGOT_OK) << bundle.error.text;
    test::GuardedSession alone(bundle, 1), together(bundle, 3);
    for (uint32_t entry = 0; entry < alone.entry_count(); ++entry) {
      for (int64_t kind = test::kHostileKinds - kinds; kind < test::kHostileKinds; ++kind, runs += 2) {
        for (test::GuardedSession* session : {&alone, &together}) {
          session->fill(entry, test::hostile_values(static_cast<int>(kind)));
          for (int i = 0; i < 2; ++i) EXPECT_TRUE(session->run(entry));
        }
        EXPECT_TRUE(alone.results(entry) == together.results(entry)) << entry << ", kind " << kind;
      }
    }
  }
  std::cout << "  " << runs << " runs of two steps\n";
  EXPECT_GT(runs, 0);
}

}  // namespace
}  // namespace ingot
