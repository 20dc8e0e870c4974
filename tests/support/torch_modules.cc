#include "tests/support/torch_modules.h"

namespace ingot {
namespace {

Dims dims(const Kwargs& kwargs, const char* name, const Dims& otherwise) {
  if (!kwargs.contains(name)) return otherwise;
  const Kwargs& value = kwargs.at(name);
  if (value.is_number()) return value.get<int64_t>();
  return value.get<std::vector<int64_t>>();
}

int64_t integer(const Kwargs& kwargs, const char* name) { return kwargs.at(name).get<int64_t>(); }

template <typename M, typename... A>
std::shared_ptr<nn::Module> module(const A&... arguments) {
  return std::make_shared<M>(arguments...);
}

Pool2dOptions pool_options(const Kwargs& k) {
  return {dims(k, "stride", {}), dims(k, "padding", 0), dims(k, "dilation", 1), k.value("ceil_mode", false),
          k.value("count_include_pad", true)};
}

nn::BatchNorm::Options batch_norm_options(const Kwargs& k) {
  return {k.value("eps", 1e-5), k.value("momentum", 0.1), k.value("affine", true), k.value("track_running_stats", true),
          f64};
}

std::shared_ptr<nn::Module> conv2d_module(const Kwargs& k) {
  if (k.value("padding_mode", "zeros") != "zeros") return nullptr;
  nn::Conv2d::Options options{.stride = dims(k, "stride", 1),
                              .dilation = dims(k, "dilation", 1),
                              .groups = k.value("groups", int64_t{1}),
                              .bias = k.value("bias", true),
                              .dtype = f64};
  if (k.contains("padding") && k.at("padding").is_string()) {
    options.same = true;
  } else {
    options.padding = dims(k, "padding", 0);
  }
  return module<nn::Conv2d>(integer(k, "in_channels"), integer(k, "out_channels"), dims(k, "kernel_size", {}), options);
}

std::shared_ptr<nn::Module> embedding_module(const Kwargs& k) {
  nn::Embedding::Options options{.dtype = f64};
  if (k.contains("padding_idx")) options.padding_idx = integer(k, "padding_idx");
  return module<nn::Embedding>(integer(k, "num_embeddings"), integer(k, "embedding_dim"), options);
}

using ModuleMaker = std::shared_ptr<nn::Module> (*)(const Kwargs&);

template <typename M>
std::shared_ptr<nn::Module> plain(const Kwargs&) {
  return module<M>();
}

const std::map<std::string, ModuleMaker> kModules = {
    {"AdaptiveAvgPool2d", [](const Kwargs& k) { return module<nn::AdaptiveAvgPool2d>(dims(k, "output_size", {})); }},
    {"AvgPool2d", [](const Kwargs& k) { return module<nn::AvgPool2d>(dims(k, "kernel_size", {}), pool_options(k)); }},
    {"BatchNorm1d",
     [](const Kwargs& k) { return module<nn::BatchNorm1d>(integer(k, "num_features"), batch_norm_options(k)); }},
    {"BatchNorm2d",
     [](const Kwargs& k) { return module<nn::BatchNorm2d>(integer(k, "num_features"), batch_norm_options(k)); }},
    {"Conv2d", conv2d_module},
    {"Dropout", [](const Kwargs& k) { return module<nn::Dropout>(k.value("p", 0.5)); }},
    {"ELU", [](const Kwargs& k) { return module<nn::ELU>(k.value("alpha", 1.0)); }},
    {"Embedding", embedding_module},
    {"Flatten",
     [](const Kwargs& k) {
       return module<nn::Flatten>(k.value("start_dim", int64_t{1}), k.value("end_dim", int64_t{-1}));
     }},
    {"GELU", [](const Kwargs& k) { return module<nn::GELU>(k.value("approximate", "none")); }},
    {"Identity", plain<nn::Identity>},
    {"LayerNorm",
     [](const Kwargs& k) {
       return module<nn::LayerNorm>(dims(k, "normalized_shape", {}),
                                    nn::LayerNorm::Options{k.value("eps", 1e-5), k.value("elementwise_affine", true),
                                                           k.value("bias", true), f64});
     }},
    {"LeakyReLU", [](const Kwargs& k) { return module<nn::LeakyReLU>(k.value("negative_slope", 0.01)); }},
    {"Linear",
     [](const Kwargs& k) {
       return module<nn::Linear>(integer(k, "in_features"), integer(k, "out_features"),
                                 nn::Linear::Options{k.value("bias", true), f64});
     }},
    {"LogSigmoid", plain<nn::LogSigmoid>},
    {"LogSoftmax", [](const Kwargs& k) { return module<nn::LogSoftmax>(integer(k, "dim")); }},
    {"MaxPool2d", [](const Kwargs& k) { return module<nn::MaxPool2d>(dims(k, "kernel_size", {}), pool_options(k)); }},
    {"ReLU", plain<nn::ReLU>},
    {"Sigmoid", plain<nn::Sigmoid>},
    {"SiLU", plain<nn::SiLU>},
    {"Softmax", [](const Kwargs& k) { return module<nn::Softmax>(integer(k, "dim")); }},
    {"Softplus", [](const Kwargs& k) { return module<nn::Softplus>(k.value("beta", 1.0)); }},
    {"Tanh", plain<nn::Tanh>},
};

CrossEntropyOptions cross_entropy_options(const Kwargs& k) {
  return {k.value("reduction", "mean"), k.value("ignore_index", int64_t{-100}), k.value("label_smoothing", 0.0)};
}

using LossMaker = Tensor (*)(std::span<const Tensor>, const Kwargs&);

const std::map<std::string, LossMaker> kLosses = {
    {"BCEWithLogitsLoss",
     [](auto in, const Kwargs& k) {
       return binary_cross_entropy_with_logits(in[0], in[1], k.value("reduction", "mean"));
     }},
    {"CrossEntropyLoss",
     [](auto in, const Kwargs& k) { return cross_entropy(in[0], in[1], cross_entropy_options(k)); }},
    {"L1Loss", [](auto in, const Kwargs& k) { return l1_loss(in[0], in[1], k.value("reduction", "mean")); }},
    {"MSELoss", [](auto in, const Kwargs& k) { return mse_loss(in[0], in[1], k.value("reduction", "mean")); }},
    {"NLLLoss", [](auto in, const Kwargs& k) { return nll_loss(in[0], in[1], cross_entropy_options(k)); }},
};

std::array<Tensor, 2> betas(const Kwargs& k) {
  const auto values = k.value("betas", std::vector<double>{0.9, 0.999});
  return {values[0], values[1]};
}

using OptimizerMaker = std::shared_ptr<optim::Optimizer> (*)(const Kwargs&, const std::vector<Tensor>&);

const std::map<std::string, OptimizerMaker> kOptimizers = {
    {"Adagrad",
     [](const Kwargs& k, const std::vector<Tensor>& p) -> std::shared_ptr<optim::Optimizer> {
       return std::make_shared<optim::Adagrad>(p, optim::AdagradOptions{.lr = k.at("lr").get<double>(),
                                                                        .lr_decay = k.value("lr_decay", 0.0),
                                                                        .weight_decay = k.value("weight_decay", 0.0)});
     }},
    {"Adam",
     [](const Kwargs& k, const std::vector<Tensor>& p) -> std::shared_ptr<optim::Optimizer> {
       return std::make_shared<optim::Adam>(
           p, optim::AdamOptions{k.at("lr").get<double>(), betas(k), k.value("eps", 1e-8), k.value("weight_decay", 0.0),
                                 k.value("amsgrad", false), k.value("maximize", false)});
     }},
    {"AdamW",
     [](const Kwargs& k, const std::vector<Tensor>& p) -> std::shared_ptr<optim::Optimizer> {
       return std::make_shared<optim::AdamW>(
           p,
           optim::AdamWOptions{k.at("lr").get<double>(), betas(k), k.value("eps", 1e-8), k.value("weight_decay", 0.01),
                               k.value("amsgrad", false), k.value("maximize", false)});
     }},
    {"RMSprop",
     [](const Kwargs& k, const std::vector<Tensor>& p) -> std::shared_ptr<optim::Optimizer> {
       return std::make_shared<optim::RMSprop>(
           p,
           optim::RMSpropOptions{k.at("lr").get<double>(), k.value("alpha", 0.99), k.value("eps", 1e-8),
                                 k.value("weight_decay", 0.0), k.value("momentum", 0.0), k.value("centered", false)});
     }},
    {"SGD",
     [](const Kwargs& k, const std::vector<Tensor>& p) -> std::shared_ptr<optim::Optimizer> {
       return std::make_shared<optim::SGD>(
           p, optim::SGDOptions{k.at("lr").get<double>(), k.value("momentum", 0.0), k.value("dampening", 0.0),
                                k.value("weight_decay", 0.0), k.value("nesterov", false), k.value("maximize", false)});
     }},
};

}  // namespace

std::shared_ptr<nn::Module> make_torch_module(const std::string& class_name, const Kwargs& kwargs) {
  const auto found = kModules.find(class_name);
  return found == kModules.end() ? nullptr : found->second(kwargs);
}

LossFunction make_torch_loss(const std::string& class_name, const Kwargs& kwargs) {
  const auto found = kLosses.find(class_name);
  if (found == kLosses.end()) return nullptr;
  return [maker = found->second, kwargs](std::span<const Tensor> inputs) { return maker(inputs, kwargs); };
}

std::shared_ptr<optim::Optimizer> make_torch_optimizer(const std::string& class_name, const Kwargs& kwargs,
                                                       const std::vector<Tensor>& parameters) {
  const auto found = kOptimizers.find(class_name);
  return found == kOptimizers.end() ? nullptr : found->second(kwargs, parameters);
}

}  // namespace ingot
