#include "apps/ingot/files/npy.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <optional>

#include "aot/base/error.h"
#include "aot/base/file.h"
#include "aot/base/join.h"

namespace ingot {
namespace {

// Reads the few of Python's literals that a header has.
class Literals {
 public:
  explicit Literals(std::string_view text) : rest_(text) {}

  bool take(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(fmt::format("'{}'", c));
  }
  std::string text(const char* what) {
    skip_blanks();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    const size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : rest_.npos;
    if (end == rest_.npos) fail(what);
    const std::string value(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return value;
  }
  bool truth() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return word == "True";
    }
    fail("True or False");
  }
  std::vector<int64_t> sizes() {
    std::vector<int64_t> values;
    expect('(');
    while (!take(')')) {
      skip_blanks();
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), values.emplace_back());
      if (error != std::errc() || values.back() < 0) fail("a size");
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }
  void end() {
    skip_blanks();
    if (!rest_.empty()) fail("the end");
  }
  [[noreturn]] void fail(const std::string& wanted) const {
    throw_error(nullptr, fmt::format("its header should have {} at \"{}\"", wanted, rest_.substr(0, 30)));
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

// NumPy's dtype string for a dtype; bf16, which it lacks, as its bits.
std::string numpy_descr(DType dtype) {
  if (dtype == DType::kBF16) return "<u2";
  const char kind = is_bool(dtype) ? 'b' : is_float(dtype) ? 'f' : is_signed(dtype) ? 'i' : 'u';
  const int bytes = info(dtype).bytes;
  return fmt::format("{}{}{}", bytes == 1 ? '|' : '<', kind, bytes);
}

std::string numpy_shape(const std::vector<int64_t>& shape) {
  return fmt::format("({}{})", join(shape, ", "), shape.size() == 1 ? "," : "");
}

// The header's text in the file's bytes, and where the data begins.
std::pair<std::string_view, size_t> split(std::string_view file) {
  constexpr size_t kLengthAt = 8;
  if (file.size() < kLengthAt + 4 || !file.starts_with("\x93NUMPY")) throw_error(nullptr, "is not a .npy file");
  const size_t length_bytes = file[6] == 1 ? 2 : 4;
  uint32_t length = 0;
  std::memcpy(&length, file.data() + kLengthAt, length_bytes);
  const size_t begin = kLengthAt + length_bytes;
  if (length > file.size() - begin) throw_error(nullptr, "ends before its header does");
  return {file.substr(begin, length), begin + length};
}

}  // namespace

NpyHeader parse_npy_header(std::string_view text) {
  Literals literals(text);
  std::optional<std::string> descr;
  std::optional<bool> is_fortran_order;
  std::optional<std::vector<int64_t>> shape;
  literals.expect('{');
  while (!literals.take('}')) {
    const std::string key = literals.text("a key");
    literals.expect(':');
    if (key == "descr") {
      descr = literals.text("one element type (structured arrays are not read)");
    } else if (key == "fortran_order") {
      is_fortran_order = literals.truth();
    } else if (key == "shape") {
      shape = literals.sizes();
    } else {
      throw_error(nullptr, fmt::format("its header has the unknown key '{}'", key));
    }
    if (!literals.take(',')) {
      literals.expect('}');
      break;
    }
  }
  literals.end();
  if (!descr || !is_fortran_order || !shape) throw_error(nullptr, "its header lacks descr, fortran_order or shape");
  return {stored_as_numpy(*descr, std::move(*shape)), *is_fortran_order};
}

void read_npy(const std::string& path, const ingot_tensor_info& tensor, bool cast, std::span<std::byte> to) {
  const std::string file = read_text(path);
  try {
    const auto [text, begin] = split(file);
    const NpyHeader header = parse_npy_header(text);
    if (header.is_fortran_order && header.type.shape.size() > 1) {
      throw_error(nullptr, "lies in Fortran's order; save numpy.ascontiguousarray of it");
    }
    const std::string why = mismatch(header.type, tensor, cast, "the input is " + to_string(tensor));
    if (!why.empty()) throw_error(nullptr, why);
    const auto data = std::as_bytes(std::span(file).subspan(begin));
    const size_t bytes = static_cast<size_t>(element_count(header.type.shape) * info(*header.type.dtype).bytes);
    if (data.size() != bytes) {
      throw_error(nullptr, fmt::format("has {} bytes of data; {} take {}", data.size(), header.type.text, bytes));
    }
    copy_elements(*header.type.dtype, data, graph_dtype(tensor.dtype), to, "its data");
  } catch (const Error& error) {
    throw Error(error.kind(), nullptr, fmt::format("{}: {}", path, error.message()));
  }
}

std::vector<int64_t> npy_shape(const std::string& path) {
  const std::string file = read_text(path);
  try {
    return parse_npy_header(split(file).first).type.shape;
  } catch (const Error& error) {
    throw Error(error.kind(), nullptr, fmt::format("{}: {}", path, error.message()));
  }
}

void write_npy(const std::string& path, const ingot_tensor_info& tensor, std::span<const std::byte> data) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                   numpy_descr(graph_dtype(tensor.dtype)), numpy_shape(shape_of(tensor)));
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  const auto header_bytes = static_cast<uint16_t>(header.size());
  WholeFile file(path);
  file.write(std::string_view("\x93NUMPY\x01\x00", 8));
  file.write(std::as_bytes(std::span(&header_bytes, 1)));
  file.write(header);
  file.write(data);
  file.commit();
}

}  // namespace ingot
