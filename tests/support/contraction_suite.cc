#include "tests/support/contraction_suite.h"

#include <fmt/format.h>

#include "aot/graph/builder.h"
#include "aot/ops/ops.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/dimension_numbers.h"

namespace ingot {
namespace {

// `body` makes the result from the arguments.
std::unique_ptr<Module> module_of(const std::vector<TensorType>& arguments,
                                  const std::function<Value*(GraphBuilder& b, const Values& arguments)>& body) {
  auto module = std::make_unique<Module>();
  Function* function = module->add_function("main");
  Values values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    values.push_back(function->body.add_argument(arguments[i], "x" + std::to_string(i)));
    function->argument_attrs.emplace_back();
  }
  GraphBuilder b;
  b.at_end(function->body);
  Value* result = body(b, values);
  b.create(kFuncReturn, {result});
  function->results.push_back({result->type, {}});
  return module;
}

struct Dot {
  int64_t batch, m, n, k;
  bool lhs_transposed = false, rhs_transposed = false;
};

ContractionProblem dot(const Dot& d, DType dtype) {
  ContractionProblem p;
  p.name = d.batch > 1 ? fmt::format("heads_{}_", d.batch) : "dot_";
  p.name += fmt::format("{}{}x{}{}x{}", d.lhs_transposed ? "t" : "", d.m, d.rhs_transposed ? "t" : "", d.n, d.k);
  const auto matrix = [&](int64_t rows, int64_t columns, bool transposed) {
    Shape shape = transposed ? Shape{columns, rows} : Shape{rows, columns};
    if (d.batch > 1) shape.insert(shape.begin(), d.batch);
    return TensorType{dtype, shape};
  };
  const int64_t first = d.batch > 1 ? 1 : 0;
  ops::DotDims dims;
  if (d.batch > 1) dims.lhs_batch = dims.rhs_batch = {0};
  dims.lhs_contract = {first + (d.lhs_transposed ? 0 : 1)};
  dims.rhs_contract = {first + (d.rhs_transposed ? 1 : 0)};
  p.module = module_of({matrix(d.m, d.k, d.lhs_transposed), matrix(d.k, d.n, d.rhs_transposed)},
                       [&](GraphBuilder& b, const Values& x) { return ops::dot_general(b, x[0], x[1], dims); });
  p.flops = 2.0 * static_cast<double>(d.batch * d.m * d.n * d.k);
  const double element_bytes = info(dtype).bytes;
  p.read_bytes = element_bytes * static_cast<double>(d.batch * (d.m * d.k + d.k * d.n));
  p.written_bytes = element_bytes * static_cast<double>(d.batch * d.m * d.n);
  return p;
}

enum class Part { kForward, kInput, kKernel };

struct Conv {
  const char* network;
  int64_t images, size, in, out, window, stride = 1, groups = 1;
  bool nchw = false;
};

ContractionProblem convolution(const Conv& c, Part part, DType dtype) {
  const int64_t pad = (c.window - 1) / 2, low = pad, high = c.stride == 1 ? c.window - 1 - pad : pad;
  const int64_t result = (c.size + low + high - c.window) / c.stride + 1;
  const auto image = [&](int64_t size, int64_t channels) {
    return TensorType{dtype, c.nchw ? Shape{c.images, channels, size, size} : Shape{c.images, size, size, channels}};
  };
  const TensorType x = image(c.size, c.in), y = image(result, c.out);
  const int64_t in = c.in / c.groups;
  const TensorType w{dtype, c.nchw ? Shape{c.out, in, c.window, c.window} : Shape{c.window, c.window, in, c.out}};
  ops::Convolution conv;
  const std::vector<int64_t> inner{2, 3}, middle{1, 2}, outer{0, 1};
  conv.dims = c.nchw ? ops::ConvDims{0, 1, inner, 1, 0, inner, 0, 1, inner}
                     : ops::ConvDims{0, 3, middle, 2, 3, outer, 0, 3, middle};
  const ops::WindowDim dim{.size = c.window, .stride = c.stride, .low = low, .high = high};
  conv.window = {dim, dim};
  conv.feature_groups = c.groups;
  ContractionProblem p;
  const char* const parts[] = {"forward", "input", "kernel"};
  p.name = fmt::format("conv_{}_{}x{}x{}_{}_{}x{}_s{}{}_{}", c.network, c.images, c.size, c.in, c.out, c.window,
                       c.window, c.stride, c.nchw ? "_nchw" : "", parts[static_cast<int>(part)]);
  p.module = module_of({x, w, y}, [&](GraphBuilder& b, const Values& a) {
    Op* op = b.create(kConvolution, {a[0], a[1]}, ops::to_attrs(conv), {y});
    if (part == Part::kForward) return op->result();
    Value* dy[] = {a[2]};
    const bool needed[] = {part == Part::kInput, part == Part::kKernel};
    GradientArgs args{b, *op, dy, needed};
    return op->def->gradient(args)[part == Part::kInput ? 0 : 1];
  });
  p.flops = 2.0 * static_cast<double>(c.images * result * result * c.out * in * c.window * c.window);
  const TensorType& written = part == Part::kForward ? y : part == Part::kInput ? x : w;
  p.written_bytes = static_cast<double>(written.bytes());
  p.read_bytes = static_cast<double>(x.bytes() + w.bytes() + y.bytes()) - p.written_bytes;
  return p;
}

constexpr Dot kDots[] = {
    {1, 64, 64, 64},
    {1, 72, 72, 72},
    {1, 128, 128, 128},
    {1, 136, 136, 136},
    {1, 256, 256, 256},
    {1, 264, 264, 264},
    {1, 512, 512, 512},
    {1, 520, 520, 520},
    {1, 512, 512, 512, true, false},
    {1, 520, 520, 520, true, false},
    {1, 512, 512, 512, false, true},
    {1, 1024, 1024, 1024},
    {1, 1032, 1032, 1032},
    {1, 1024, 1024, 1024, true, false},
    {1, 1024, 1024, 1024, false, true},
    {1, 2048, 2048, 2048},
    {1, 2056, 2056, 2056},
    {1, 128, 256, 784},
    {1, 784, 256, 128, true, false},
    {1, 256, 768, 768},
    {1, 256, 768, 768, false, true},
    {1, 256, 3072, 768},
    {1, 256, 768, 3072},
    {1, 256, 768, 3072, false, true},
    {1, 256, 768, 2304},
    {1, 512, 32, 3200, true, false},
    {1, 512, 128, 3200, true, false},
    {1, 576, 2080, 192, true, false},  // gradients of weights: of a ViT, of an LSTM
    {1, 512, 768, 128, true, false},
    {1, 768, 3072, 256, true, false},
    {1, 3072, 768, 256, true, false},
    {1, 197, 768, 768, false, true},
    {1, 1000, 100, 100},
    {1, 1, 1024, 1024},
    {1, 1, 4096, 1024, false, true},
    {1, 4, 1024, 1024},
    {1, 16, 1024, 1024},
    {1, 32, 1024, 1024},
    {1, 32, 1024, 1024, false, true},
    {48, 64, 64, 32, false, true},
    {48, 128, 128, 64, false, true},
    {48, 128, 64, 128},
    {12, 512, 512, 64, false, true},
    {12, 512, 64, 512},
    {12, 512, 64, 512, true, false},
    {16, 197, 197, 48, false, true},
};

constexpr Conv kConvs[] = {
    {"lenet", 64, 28, 1, 6, 5},
    {"lenet", 64, 14, 6, 16, 5},
    {"resnet20", 32, 32, 16, 16, 3},
    {"resnet20", 32, 32, 16, 32, 3, 2},
    {"resnet20", 32, 16, 32, 32, 3},
    {"resnet20", 32, 8, 64, 64, 3},
    {"resnet50", 4, 112, 3, 64, 7, 2},
    {"resnet50", 4, 56, 64, 64, 3},
    {"resnet50", 4, 56, 64, 256, 1},
    {"resnet50", 4, 56, 128, 128, 3, 2},
    {"resnet50", 4, 28, 128, 128, 3},
    {"resnet50", 4, 14, 256, 256, 3},
    {"resnet50", 4, 14, 1024, 256, 1},
    {"resnet50", 4, 7, 512, 512, 3},
    {"unet", 2, 64, 64, 64, 3},
    {"unet", 2, 32, 128, 128, 3},
    {"mobilenet", 4, 56, 96, 96, 3, 1, 96},
    {"mobilenet", 4, 56, 96, 96, 3, 2, 96},
    {"plain", 64, 28, 32, 64, 3, 1, 1, true},
};

}  // namespace

std::vector<ContractionProblem> contraction_problems(DType dtype) {
  std::vector<ContractionProblem> problems;
  for (const Dot& d : kDots) problems.push_back(dot(d, dtype));
  for (const Conv& c : kConvs) {
    for (const Part part : {Part::kForward, Part::kInput, Part::kKernel})
      problems.push_back(convolution(c, part, dtype));
  }
  return problems;
}

}  // namespace ingot
