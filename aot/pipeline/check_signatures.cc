#include "aot/pipeline/check_signatures.h"

#include <fmt/format.h>

#include "aot/base/error.h"
#include "aot/base/printable.h"
#include "aot/graph/attributes.h"
#include "aot/pipeline/to_spec.h"
#include "schema/bundle_header.h"
#include "schema/text.h"

namespace ingot {
namespace {

void check_name(const char* what, const std::string& name, const Location& location) {
  if (ingot_is_plain_text(name.data(), name.size())) return;
  throw_error(location,
              fmt::format("the {} '{}' is longer than {} bytes, has a control character or is no UTF-8; give it "
                          "another name",
                          what, printable(name), INGOT_NAME_BYTES_MAX));
}

void check_attrs(const AttrMap& attrs, const Location& location) {
  const std::string state = attr_text(attrs, attributes::kState);
  check_name("state", state, location);
  check_name("role", attr_text(attrs, attributes::kRole), location);
  check_name("name", attr_text(attrs, attributes::kName), location);
  if (state != INGOT_RESERVED_STATE) return;
  throw_error(location,
              fmt::format("the state '{}' has a name that state files keep for themselves; give it another", state));
}

void check_count(const char* what, size_t count, size_t most, const Location& location) {
  if (count > most) throw_limit(location, fmt::format("{} {} are more than the {} of a bundle", count, what, most));
}

}  // namespace

void check_signatures(const std::vector<Function*>& entries) {
  for (const Function* entry : entries) {
    check_name("entry point", entry->name, entry->location);
    const bundle::Entry signature = entry_signature(*entry);
    check_count("inputs", signature.inputs.size(), INGOT_PORTS_MAX, entry->location);
    check_count("outputs", signature.outputs.size(), INGOT_PORTS_MAX, entry->location);
    for (int i = 0; i < entry->argument_count(); ++i) {
      check_attrs(entry->argument_attrs[i], entry->body.argument(i)->location);
    }
    for (const FunctionResult& result : entry->results) check_attrs(result.attrs, entry->location);
  }
}

}  // namespace ingot
