// The parts of pretty forms that the format language cannot say, each a hand-written pair.
#pragma once

#include <string_view>

#include "aot/graph/text/assembly.h"

namespace ingot {

class OpReader;
class OpPrinter;
struct OpDraft;
struct Op;

struct CustomForm {
  std::string_view name;
  void (*parse)(OpReader& reader, OpDraft& draft);
  void (*print)(OpPrinter& printer, const Op& op);
  Assembly attributes;  // that it reads and writes
  // False: this op does not fit the form and is printed in the generic one.
  bool (*can_print)(const Op& op) = nullptr;
};

const CustomForm& find_custom(std::string_view name);  // a bug when there is none

}  // namespace ingot
