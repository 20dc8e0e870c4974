// A Program is a set of entry points that share state by name: what is traced is what compile() makes a bundle of.
#pragma once

#include <concepts>
#include <functional>
#include <optional>

#include "aot/frontend/trace/tensor.h"

namespace ingot {

struct Module;

// The type of an input, and its name: f32[{64, 1, 28, 28}], i32[{64}].named("labels").
// Nameless inputs are arg0, arg1, ... One with a value of its own, f32[{}].named("lr").otherwise(1e-3), has it until the
// host binds another.
struct Spec {
  TensorType type;
  std::string name;
  std::optional<double> value = {};  // of every element

  Spec named(std::string input_name) const { return {type, std::move(input_name), value}; }
  Spec otherwise(double default_value) const { return {type, name, default_value}; }
};

// An element type as written in a program: f32[{2, 3}] is a Spec, x.to(f32) a conversion.
struct TypeName {
  DType dtype;

  constexpr operator DType() const { return dtype; }
  Spec operator[](std::initializer_list<int64_t> shape) const { return {{dtype, shape}, ""}; }
};
inline constexpr TypeName f16{DType::kF16}, bf16{DType::kBF16}, f32{DType::kF32}, f64{DType::kF64};
inline constexpr TypeName i1{DType::kI1}, i8{DType::kI8}, i16{DType::kI16}, i32{DType::kI32}, i64{DType::kI64};
inline constexpr TypeName ui8{DType::kUI8}, ui16{DType::kUI16}, ui32{DType::kUI32}, ui64{DType::kUI64};

// What an entry point gives back: nothing, one tensor (named "loss" where backward() was called on it, else "output"),
// or named ones: `return Outputs{{"loss", loss}, {"accuracy", accuracy}};`
struct Outputs {
  std::vector<std::pair<std::string, Tensor>> tensors;

  Outputs() = default;
  Outputs(const Tensor& tensor) : tensors{{"", tensor}} {}
  Outputs(std::initializer_list<std::pair<std::string, Tensor>> named) : tensors(named) {}
};

class Program {
 public:
  explicit Program(std::string name = "program");
  ~Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;

  // Traces `function` once, with a tensor for each spec, into the entry point `name`. The parameters and buffers that
  // it reads and writes become state of the program. The function returns Outputs, a Tensor or nothing.
  template <typename F, std::convertible_to<Spec>... Specs>
  void add(std::string name, F&& function, const Specs&... specs) {
    add(std::move(name), std::vector<Spec>{Spec(specs)...},
        [&](std::span<const Tensor> inputs) { return call(function, inputs, std::index_sequence_for<Specs...>()); });
  }

  // The same for as many inputs as there are specs.
  using Body = std::function<Outputs(std::span<const Tensor> inputs)>;
  void add(std::string name, std::vector<Spec> specs, const Body& body);

  // The graph of all entry points. Where the program has state and no `init` of its own, one is generated: it takes
  // `seed` (i64[]) and gives every variable that has an initializer its first value.
  Module& module();

  // A name and type for each variable, in the order in which entry points first touched them.
  std::vector<Spec> state() const;

 private:
  struct Data;
  template <typename F, size_t... I>
  static Outputs call(F& function, std::span<const Tensor> inputs, std::index_sequence<I...>) {
    if constexpr (std::is_void_v<decltype(function(inputs[I]...))>) {
      function(inputs[I]...);
      return {};
    } else {
      return Outputs(function(inputs[I]...));
    }
  }

  std::unique_ptr<Data> data_;
};

}  // namespace ingot
