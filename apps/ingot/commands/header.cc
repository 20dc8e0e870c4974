// ingot header: a bundle's entry points, types and sizes as a header for programs that embed it.
#include <filesystem>

#include "aot/base/error.h"
#include "aot/base/file.h"
#include "apps/ingot/c_sources/c_names.h"
#include "apps/ingot/c_sources/typed_header.h"
#include "apps/ingot/command.h"
#include "apps/ingot/files/sources.h"

namespace ingot {
namespace {

struct HeaderOptions {
  std::string bundle, output, prefix, embed;
};

void write_header(const HeaderOptions& options) {
  const std::filesystem::path path = options.bundle;
  const bundle::BundleSpec spec = load_bundle(options.bundle);
  const std::string prefix = identifier(options.prefix.empty() ? path.stem().string() : options.prefix);
  write_file(options.output, typed_header(spec, {prefix, !options.embed.empty()}));
  if (!options.embed.empty()) {
    const std::string absolute = std::filesystem::absolute(path).lexically_normal().string();
    write_file(options.embed, embedding_source(prefix, absolute, bundle::largest_page_bytes(spec)));
  }
}

}  // namespace

Command header_command() {
  auto options = std::make_shared<HeaderOptions>();
  HeaderOptions& o = *options;
  return {
      .name = "header",
      .help = "Write a header for C and C++ programs that embed a bundle",
      .examples =
          "  ingot header digits.ingot -o digits.h\n"
          "  ingot header digits.ingot -o digits.h --embed digits.c    # and the bundle's bytes, to be compiled in",
      .options = {{"bundle", &o.bundle, "the bundle", {.required = true, .names = Names::kInput}},
                  {"-o,--output", &o.output, "the header to write", {.required = true, .names = Names::kOutput}},
                  {"--namespace", &o.prefix, "C++ namespace, and prefix of C names (default: the bundle's name)"},
                  {"--embed",
                   &o.embed,
                   "C source to write beside it, which has the bundle's bytes",
                   {.names = Names::kOutput}}},
      .run = [options] { write_header(*options); },
  };
}

}  // namespace ingot
