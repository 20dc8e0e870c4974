// What `ingot compile --emit static` writes: a folder with a header, a source and an object.
#pragma once

#include <string>

#include "aot/base/file.h"
#include "aot/bundle/bundle.h"

namespace ingot {

class StaticFiles {
 public:
  // Makes the folder where there is none. Fails where nothing can be written: before the work.
  explicit StaticFiles(const std::string& folder);

  const std::string& name() const { return name_; }  // what all names begin with: the folder's, as an identifier
  uint64_t write(const bundle::BundleSpec& spec);    // returns the bytes of all files

 private:
  std::string name_, path_;  // path_: of the files, without their ends
  WholeFile header_, source_, object_;
};

}  // namespace ingot
