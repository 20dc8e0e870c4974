// Reads what stands inside ops: types, attributes, literals, locations. One reader for a text with one module.
#pragma once

#include <unordered_map>

#include "aot/base/lexer.h"
#include "aot/graph/attr.h"

namespace ingot {

// A location with its size as a tree: shared nodes make small texts into huge trees, and those are refused.
struct SizedLocation {
  Location location;
  int depth = 0;
  int64_t nodes = 0;
};

// A Lexer that knows the aliases `#name = attribute`, `#name = loc(...)` and `!name = type` of its text, wherever they
// are defined, and that bounds how deep and how large a text may become.
class TextReader : public Lexer {
 public:
  TextReader(const Source& source, size_t begin, size_t end);

  // Takes the next token, an alias; the meaning must be of the right kind.
  Attr attr_alias();
  SizedLocation location_alias();
  TensorType type_alias();
  bool is_alias(std::string_view name) const { return aliases_.contains(name); }

  // At `#name =` or `!name =`: takes the whole definition.
  void skip_definition();

  // Takes `open`..`close` with everything between: (), [], {}, <> must match.
  void skip_group();

  // Counts towards the limit on what a text may expand to (through aliases that name aliases).
  void charge(int64_t bytes);

  // Bounds recursion: one for each level of nesting, alive while it is open.
  class Nesting {
   public:
    explicit Nesting(TextReader& reader) : reader_(reader) {
      if (++reader.depth_ > kDeepest) reader.fail_too_deep();
    }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    ~Nesting() { --reader_.depth_; }

   private:
    TextReader& reader_;
  };

 private:
  static constexpr int kDeepest = 250;  // levels; a level takes at most about 10 KiB of stack

  struct Alias {
    size_t offset = 0;  // of what follows '='
    size_t end = 0;     // set once read
    enum class State : uint8_t { kUnread, kReading, kRead } state = State::kUnread;
    std::variant<Attr, SizedLocation, TensorType> meaning;
    int64_t cost_bytes = 0;
  };

  void collect_aliases(size_t begin, size_t end);
  Alias& resolve(std::string_view name);
  [[noreturn]] void fail_too_deep() const;

  std::unordered_map<std::string_view, Alias> aliases_;  // by name with its sigil
  int depth_ = 0;
  int64_t charged_bytes_ = 0;
};

TensorType parse_type(TextReader& reader);                                   // tensor<2x3xf32>
std::shared_ptr<const Quantization> parse_quantization(TextReader& reader);  // !quant.uniform<i8:f32, 0.1:-30>
// dense<...> : tensor<...>; the type as it is written is wanted where it may be quantized.
LiteralRef parse_literal(TextReader& reader, TensorType* written = nullptr);
Attr parse_attr(TextReader& reader);                                     // any attribute
AttrMap parse_attr_dict(TextReader& reader);                             // {name = attribute, name}
void parse_attr_entries(TextReader& reader, char close, AttrMap& into);  // the inside, up to and with `close`
SizedLocation parse_location(TextReader& reader);                        // loc(...)
// loc(...) when it is there, else `otherwise`.
Location parse_optional_location(TextReader& reader, Location otherwise);

// The dimension numbers of a convolution, [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
// as a DictAttr with tag stablehlo.conv.
DictAttr parse_conv_dims(TextReader& reader);

// [1, 2, 3]; the words true and false count as 1 and 0.
std::vector<int64_t> parse_int_list(TextReader& reader);

// `name` as an attribute's or a symbol's: bare where possible, else in quotes.
std::string parse_name(TextReader& reader);

}  // namespace ingot
