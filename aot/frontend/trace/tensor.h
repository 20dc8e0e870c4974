// A Tensor is a handle to a value of the entry point that is being traced, with PyTorch's names, broadcasting and type
// promotion. Copying a handle is cheap and copies no data; there is no data while a program is traced. (A lazy::Device
// records what is done with tensors outside of entry points: those hold data.)
//
// Four things are tensors: a traced value; a parameter or buffer (state that outlives the trace; reading one gives its
// latest value); a number (`x + 1`, without a type of its own, like Python's); and nothing (`Tensor t;`).
//
// Every function remembers the line that called it: errors, also those found long after, name the user's own line.
#pragma once

#include <concepts>
#include <iosfwd>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "aot/graph/type.h"

namespace ingot {

struct Value;
struct Variable;
struct In;
using Where = std::source_location;

// Dimensions, sizes or axes: `1` or `{0, 2, 3}`. A negative axis counts from the end.
struct Dims : std::vector<int64_t> {
  using std::vector<int64_t>::vector;
  Dims() = default;
  Dims(std::initializer_list<int64_t> values) : std::vector<int64_t>(values) {}
  Dims(std::vector<int64_t> values) : std::vector<int64_t>(std::move(values)) {}
  template <std::integral T>
  Dims(T value) : std::vector<int64_t>{static_cast<int64_t>(value)} {}
};

// The C++ types that are an element type.
template <typename T>
concept Element = (std::integral<T> && !std::same_as<T, bool>) || std::same_as<T, float> || std::same_as<T, double>;

template <Element T>
constexpr DType dtype_of() {
  if constexpr (std::same_as<T, float>) return DType::kF32;
  if constexpr (std::same_as<T, double>) return DType::kF64;
  constexpr bool kSigned = std::signed_integral<T>;
  if constexpr (sizeof(T) == 1) return kSigned ? DType::kI8 : DType::kUI8;
  if constexpr (sizeof(T) == 2) return kSigned ? DType::kI16 : DType::kUI16;
  if constexpr (sizeof(T) == 4) return kSigned ? DType::kI32 : DType::kUI32;
  if constexpr (sizeof(T) == 8) return kSigned ? DType::kI64 : DType::kUI64;
}

class Tensor {
 public:
  Tensor() {}  // nothing
  Tensor(double number) : kind_(Kind::kNumber), number_(number) {}
  template <std::integral T>
  Tensor(T number) : kind_(Kind::kNumber), is_integral_(true), number_(static_cast<double>(number)) {}

  bool defined() const { return kind_ != Kind::kNothing; }
  bool is_number() const { return kind_ == Kind::kNumber; }
  double number() const { return number_; }
  bool is_integral_number() const { return is_number() && is_integral_; }
  const TensorType& type(Where at = Where::current()) const;  // a number or nothing has none: an error
  const Shape& shape(Where at = Where::current()) const { return type(at).shape; }
  DType dtype(Where at = Where::current()) const { return type(at).dtype; }
  int64_t size(int64_t dim, Where at = Where::current()) const;
  int64_t dim(Where at = Where::current()) const { return type(at).rank(); }
  int64_t numel(Where at = Where::current()) const { return type(at).elements(); }

  // --- gradients -----------------------------------------------------------------------------------------------------
  // Adds d this / d leaf to the grad() of every leaf that this depends on: trained parameters, and traced values after
  // requires_grad_(). `gradient`, of this tensor's type, is needed when this is not a scalar.
  void backward(const Tensor& gradient = {}, Where at = Where::current()) const;
  Tensor grad(Where at = Where::current()) const;  // undefined until a backward() reached it
  void set_grad(const Tensor& gradient, Where at = Where::current()) const;
  Tensor& requires_grad_(bool requires_grad = true);
  bool requires_grad() const;
  Tensor detach(Where at = Where::current()) const;  // the same value, through which no gradient flows

  // --- state ---------------------------------------------------------------------------------------------------------
  // Replaces a parameter's or buffer's value from here on; the old value stays with those who read it.
  // The type must fit.
  void copy_(const Tensor& value, Where at = Where::current());
  std::string name() const;  // of a parameter or buffer: "0.weight"; else ""

  // --- values, of tensors that a lazy::Device records: to ask for one computes it ---------------------------------------
  double item(Where at = Where::current()) const;  // of one element
  // Row-major, of the tensor's own element type; i1 as uint8_t.
  template <Element T>
  std::vector<T> to_vector(Where at = Where::current()) const {
    std::vector<T> values(numel(at));
    copy_values(dtype_of<T>(), values.data(), at);
    return values;
  }

  // --- methods; each is the function of its name in functions.h ------------------------------------------------------
  Tensor to(DType dtype, Where at = Where::current()) const;
  Tensor exp(Where at = Where::current()) const;
  Tensor log(Where at = Where::current()) const;
  Tensor sqrt(Where at = Where::current()) const;
  Tensor rsqrt(Where at = Where::current()) const;
  Tensor abs(Where at = Where::current()) const;
  Tensor tanh(Where at = Where::current()) const;
  Tensor sigmoid(Where at = Where::current()) const;
  Tensor relu(Where at = Where::current()) const;
  Tensor square(Where at = Where::current()) const;
  Tensor pow(const Tensor& exponent, Where at = Where::current()) const;
  Tensor matmul(const Tensor& other, Where at = Where::current()) const;
  Tensor sum(const Dims& dims = {}, bool keepdim = false, Where at = Where::current()) const;
  Tensor mean(const Dims& dims = {}, bool keepdim = false, Where at = Where::current()) const;
  Tensor amax(const Dims& dims = {}, bool keepdim = false, Where at = Where::current()) const;
  Tensor amin(const Dims& dims = {}, bool keepdim = false, Where at = Where::current()) const;
  Tensor argmax(int64_t dim, bool keepdim = false, Where at = Where::current()) const;
  Tensor softmax(int64_t dim, Where at = Where::current()) const;
  Tensor log_softmax(int64_t dim, Where at = Where::current()) const;
  Tensor reshape(const Dims& shape, Where at = Where::current()) const;
  Tensor view(const Dims& shape, Where at = Where::current()) const { return reshape(shape, at); }
  Tensor flatten(int64_t start_dim = 0, int64_t end_dim = -1, Where at = Where::current()) const;
  Tensor transpose(int64_t dim0, int64_t dim1, Where at = Where::current()) const;
  Tensor t(Where at = Where::current()) const { return transpose(0, 1, at); }
  Tensor permute(const Dims& dims, Where at = Where::current()) const;
  Tensor unsqueeze(int64_t dim, Where at = Where::current()) const;
  Tensor squeeze(int64_t dim, Where at = Where::current()) const;
  Tensor expand(const Dims& shape, Where at = Where::current()) const;
  Tensor select(int64_t dim, int64_t index, Where at = Where::current()) const;
  Tensor slice(int64_t dim, int64_t start, int64_t end, int64_t step = 1, Where at = Where::current()) const;
  std::vector<Tensor> split(int64_t split_size, int64_t dim = 0, Where at = Where::current()) const;
  std::vector<Tensor> chunk(int64_t chunks, int64_t dim = 0, Where at = Where::current()) const;
  Tensor masked_fill(const Tensor& mask, const Tensor& value, Where at = Where::current()) const;

  Tensor& operator+=(const In& other);
  Tensor& operator-=(const In& other);
  Tensor& operator*=(const In& other);
  Tensor& operator/=(const In& other);

 private:
  void copy_values(DType dtype, void* out, const Where& at) const;

  friend class Trace;
  friend Tensor tensor_of(std::shared_ptr<Variable> variable);
  enum class Kind : uint8_t { kNothing, kTraced, kVariable, kNumber };

  Kind kind_ = Kind::kNothing;
  bool is_integral_ = false;
  double number_ = 0;
  uint64_t trace_id_ = 0;  // Invariant: value_ is alive only while the trace of this id is
  Value* value_ = nullptr;
  std::shared_ptr<Variable> variable_;
};

// The value, as PyTorch prints it, where tensors hold values; else the type. Long ones are cut.
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

// The first argument of a traced function: a tensor, and the line where the function was called.
struct In {
  In(const Tensor& t, Where where = Where::current()) : tensor(t), at(where) {}
  In(double number, Where where = Where::current()) : tensor(number), at(where) {}
  template <std::integral T>
  In(T number, Where where = Where::current()) : tensor(number), at(where) {}

  Tensor tensor;
  Where at;
};

}  // namespace ingot
