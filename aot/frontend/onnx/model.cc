#include "aot/frontend/onnx/model.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "aot/base/contains.h"
#include "aot/base/error.h"

namespace ingot::onnx {
namespace {

constexpr int64_t kString = 8;

// By TensorProto.DataType; kToken where there is none.
constexpr std::array<DType, 27> kDTypes = {
    DType::kToken,      DType::kF32,    DType::kUI8,        DType::kI8,   DType::kUI16, DType::kI16,
    DType::kI32,        DType::kI64,    DType::kToken,      DType::kI1,   DType::kF16,  DType::kF64,
    DType::kUI32,       DType::kUI64,   DType::kC64,        DType::kC128, DType::kBF16, DType::kF8E4M3FN,
    DType::kF8E4M3FNUZ, DType::kF8E5M2, DType::kF8E5M2FNUZ, DType::kUI4,  DType::kI4,   DType::kF4E2M1FN,
    DType::kF8E8M0FNU,  DType::kUI2,    DType::kI2};

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const auto fail = [&] { throw_error(nullptr, fmt::format("{}: {}", path, std::strerror(errno))); };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail();
  struct stat status = {};
  const bool is_file = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  bytes_ = is_file ? static_cast<size_t>(status.st_size) : 0;
  void* mapped = bytes_ ? ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, descriptor, 0) : nullptr;
  ::close(descriptor);
  if (!is_file) throw_error(nullptr, fmt::format("{}: is no regular file", path));
  if (mapped == MAP_FAILED) fail();
  data_ = static_cast<const char*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<char*>(data_), bytes_);
}

const Attribute* Node::find(std::string_view attribute) const {
  for (const Attribute& a : attributes) {
    if (a.name == attribute) return &a;
  }
  return nullptr;
}

bool LocalFunction::has_attribute(std::string_view attribute) const {
  return contains(attributes, attribute) ||
         std::ranges::any_of(defaults, [&](const Attribute& a) { return a.name == attribute; });
}

const MappedFile& Model::external_file(const std::string& name) const {
  std::unique_ptr<const MappedFile>& mapped = external_files[name];
  if (!mapped) mapped = std::make_unique<MappedFile>((std::filesystem::path(path).parent_path() / name).string());
  return *mapped;
}

std::string_view short_domain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

DType dtype_of(int64_t data_type, std::string_view what) {
  if (data_type == kString) {
    throw_limit(nullptr, fmt::format("{} is of strings, which ingot does not compute with; map strings to numbers "
                                     "before the model",
                                     what));
  }
  const bool is_known = data_type > 0 && data_type < std::ssize(kDTypes);
  if (!is_known || kDTypes[data_type] == DType::kToken) {
    throw_error(nullptr, fmt::format("{} has the element type {}, which ONNX (IR 13) does not have", what, data_type));
  }
  return kDTypes[data_type];
}

}  // namespace ingot::onnx
