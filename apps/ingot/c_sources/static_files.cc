#include "apps/ingot/c_sources/static_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "aot/base/error.h"
#include "apps/ingot/c_sources/c_names.h"
#include "apps/ingot/c_sources/static_sources.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

// The last name of a path, whatever it ends in.
std::string folder_name(const std::string& folder) {
  const fs::path path = fs::absolute(folder).lexically_normal();
  return identifier((path.has_filename() ? path : path.parent_path()).filename().string());
}

std::string made(const std::string& folder, const std::string& name) {
  std::error_code error;
  fs::create_directory(folder, error);
  if (!fs::is_directory(folder)) {
    throw_error(nullptr, fmt::format("{}: cannot make this folder: {}", folder,
                                     error ? error.message() : "there is a file of this name"));
  }
  return (fs::path(folder) / name).string();
}

}  // namespace

StaticFiles::StaticFiles(const std::string& folder)
    : name_(folder_name(folder)),
      path_(made(folder, name_)),
      header_(path_ + ".h"),
      source_(path_ + ".c"),
      object_(path_ + "_kernels.o") {}

uint64_t StaticFiles::write(const bundle::BundleSpec& spec) {
  const StaticSources sources = static_sources(spec, name_);
  header_.write(sources.header);
  source_.write(sources.source);
  object_.write(sources.object);
  header_.commit();
  source_.commit();
  object_.commit();
  return sources.header.size() + sources.source.size() + sources.object.size();
}

}  // namespace ingot
