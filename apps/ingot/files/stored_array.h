// An array that a file has, and how its elements become those of a tensor.
#pragma once

#include <ingot/engine.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aot/graph/type.h"

namespace ingot {

struct StoredType {
  std::string text;  // as the file has it, for people: "F32[64,784]"
  std::optional<DType> dtype;
  std::vector<int64_t> shape;
};

// By a name of safetensors and by one of NumPy's ("<f4"). Complex numbers are real ones with a last dimension of 2, as
// in bundles. Without a dtype: it is none of ingot's.
StoredType stored_as_safetensors(const std::string& dtype, std::vector<int64_t> shape);
StoredType stored_as_numpy(const std::string& descr, std::vector<int64_t> shape);

DType graph_dtype(ingot_dtype dtype);  // a limit error for what the command line cannot fill in
std::vector<int64_t> shape_of(const ingot_tensor_info& tensor);
std::string to_string(const ingot_tensor_info& tensor);  // "images: f32[64,1,28,28]"

// Why elements of this type cannot fill the tensor, or "": "is F64[8], but WANTED; --cast converts it". With `cast`,
// numbers of other types can: floats are rounded, integers must fit.
std::string mismatch(const StoredType& stored, const ingot_tensor_info& tensor, bool cast, const std::string& wanted);

// Copies elements, converted where the types differ. Throws an Error that begins with `name` for an integer that does
// not fit.
void copy_elements(DType from, std::span<const std::byte> data, DType to, std::span<std::byte> result,
                   const std::string& name);

}  // namespace ingot
