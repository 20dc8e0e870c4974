// What `ingot --version` says.
#pragma once

#include <string>

namespace ingot {

std::string version_text();

}  // namespace ingot
