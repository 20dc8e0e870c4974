// The beginnings of the files of Fashion-MNIST, as Debian's package has them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace ingot {

// Writes so many images of a part ("train", "t10k") and their labels to a folder, through a filter of the shell; files are
// called as `images` and `labels` say. False where they are not there.
inline bool write_fashion_images(const std::string& folder, const std::string& part, int64_t count,
                                 const std::string& filter, const std::string& images, const std::string& labels) {
  constexpr int64_t kImageBytes = 28 * 28, kImagesHeaderBytes = 16, kLabelsHeaderBytes = 8;
  const std::string from = "/usr/share/datasets/fashion-mnist/" + part;
  const std::string line = fmt::format(
      "test -e {0}-images-idx3-ubyte.gz && mkdir -p {1} && "
      "zcat {0}-images-idx3-ubyte.gz | head -c {2} | {4} >{1}/{5} && "
      "zcat {0}-labels-idx1-ubyte.gz | head -c {3} | {4} >{1}/{6}",
      from, folder, kImagesHeaderBytes + count * kImageBytes, kLabelsHeaderBytes + count, filter, images, labels);
  return std::system(line.c_str()) == 0;
}

}  // namespace ingot
