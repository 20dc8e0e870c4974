#include "aot/loops/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <map>

#include "aot/graph/text/text_reader.h"
#include "aot/lowered/lowered.h"

namespace ingot::lowered {
namespace {

class Parser {
 public:
  explicit Parser(const Source& source) : reader_(source, 0, source.text().size()) {}

  Function run() {
    while (reader_.at_word("kernel")) function_.kernels.push_back(loops::parse_kernel(reader_));
    reader_.expect_word("function");
    function_.name = parse_name(reader_);
    reader_.expect('{');
    while (reader_.accept_word("argument")) parse_argument();
    while (reader_.accept_word("constant")) parse_constant();
    function_.body.nodes = parse_nodes();
    function_.body.results = parse_results([this] { function_.results.push_back(parse_port("output")); });
    reader_.expect(TokenKind::kEnd, "the end of the text");
    return std::move(function_);
  }

 private:
  // --- values ---

  ValueId define(std::string_view piece, const std::string& name, TensorType type) {
    const ValueId value = function_.add_value(name, std::move(type));
    if (!values_.emplace(name, value).second) reader_.fail_at(piece, "another value has this name");
    return value;
  }

  ValueId parse_new(const TensorType& type) {
    const std::string_view piece = reader_.token().text;
    const std::string name = parse_name(reader_);
    return define(piece, name, type);
  }

  TensorType parse_static_type() {
    const std::string_view piece = reader_.token().text;
    TensorType type = parse_type(reader_);
    if (!type.is_static()) reader_.fail_at(piece, "the shape of a value is known");
    return type;
  }

  // h: tensor<32x10xf32>
  ValueId parse_definition() {
    const std::string_view piece = reader_.token().text;
    const std::string name = parse_name(reader_);
    reader_.expect(':');
    return define(piece, name, parse_static_type());
  }

  ValueId parse_known() {
    const std::string_view piece = reader_.token().text;
    return find(piece, parse_name(reader_));
  }

  ValueId find(std::string_view piece, const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) reader_.fail_at(piece, fmt::format("no value above is named {}", piece));
    return found->second;
  }

  const TensorType& type(ValueId value) const { return function_.type(value); }

  // The names up to `end`, each taken by `parse_one`.
  template <typename ParseOne>
  std::vector<ValueId> parse_list(char end, const ParseOne& parse_one) {
    std::vector<ValueId> values;
    if (reader_.at(end)) return values;
    do {
      values.push_back(parse_one());
    } while (reader_.accept(','));
    return values;
  }

  // Like `alike`, one for each.
  std::vector<ValueId> parse_new_like(const std::vector<ValueId>& alike) {
    size_t next = 0;
    const std::string_view piece = reader_.token().text;
    const std::vector<ValueId> made = parse_list('{', [&] {
      const std::string_view name = reader_.token().text;
      if (next == alike.size()) reader_.fail_at(name, fmt::format("this loop carries {} values", alike.size()));
      const TensorType like = type(alike[next++]);
      return parse_new(like);
    });
    if (next < alike.size()) reader_.fail_at(piece, fmt::format("this loop carries {} values", alike.size()));
    return made;
  }

  // --- the function ---

  Port parse_port(const char* kind) {
    Port port;
    port.is_state = reader_.accept_word("state");
    if (port.is_state || reader_.accept_word(kind)) port.name = parse_name(reader_);
    return port;
  }

  // argument w: tensor<64x10xf32> state params.w
  void parse_argument() {
    function_.body.arguments.push_back(parse_definition());
    function_.arguments.push_back(parse_port("input"));
  }

  // constant c = dense<0.5> : tensor<64xf32>
  void parse_constant() {
    const std::string_view piece = reader_.token().text;
    const std::string name = parse_name(reader_);
    reader_.expect('=');
    const LiteralRef literal = parse_literal(reader_);
    function_.constants.push_back({define(piece, name, literal->type), literal});
  }

  // return a, b }, and what follows each name
  template <typename ParseMore>
  std::vector<ValueId> parse_results(const ParseMore& parse_more) {
    if (!reader_.accept_word("return")) {
      reader_.fail_expected("'call', 'copy', 'fill', 'while', 'case' or 'return'");
    }
    const std::vector<ValueId> results = parse_list('}', [&] {
      const ValueId value = parse_known();
      parse_more();
      return value;
    });
    reader_.expect('}');
    return results;
  }

  // --- nodes ---

  // The nodes up to what is none.
  std::vector<Node> parse_nodes() {
    static constexpr std::pair<const char*, Node (Parser::*)()> kKinds[] = {{"call", &Parser::parse_calls},
                                                                            {"copy", &Parser::parse_copy},
                                                                            {"fill", &Parser::parse_fill},
                                                                            {"while", &Parser::parse_loop},
                                                                            {"case", &Parser::parse_branches}};
    std::vector<Node> nodes;
    while (true) {
      const auto kind = std::ranges::find_if(kKinds, [&](const auto& row) { return reader_.accept_word(row.first); });
      if (kind == std::end(kKinds)) return nodes;
      nodes.push_back((this->*kind->second)());
    }
  }

  Block parse_block() {
    const TextReader::Nesting nesting(reader_);
    reader_.expect('{');
    Block block;
    block.nodes = parse_nodes();
    block.results = parse_results([] {});
    return block;
  }

  // call pack (kernel 0, hoistable) reads w writes p: tensor<64xf32> temporary
  // then dot (kernel 1) reads x, p writes h: tensor<32x10xf32>
  Node parse_calls() {
    Node node;
    do {
      parse_call(node);
    } while (reader_.accept_word("then"));
    return node;
  }

  void parse_call(Node& node) {
    const std::string_view piece = reader_.token().text;
    const std::string name = parse_name(reader_);
    KernelCall call;
    reader_.expect('(');
    reader_.expect_word("kernel");
    call.kernel = parse_kernel_number();
    if (function_.kernels[call.kernel].name != name) {
      reader_.fail_at(piece, fmt::format("kernel {} is named {}", call.kernel, function_.kernels[call.kernel].name));
    }
    if (reader_.accept(',')) {
      if (!reader_.at_word("hoistable")) reader_.fail_expected("'hoistable'");
      const std::string_view word = reader_.take().text;
      if (node.hoistable_calls++ != static_cast<int>(node.calls.size())) {
        reader_.fail_at(word, "the calls before it are not hoistable");
      }
    }
    reader_.expect(')');
    parse_arguments(node, call);
    node.calls.push_back(std::move(call));
  }

  int parse_kernel_number() {
    const std::string_view piece = reader_.token().text;
    const int64_t number = reader_.expect_integer("a kernel's number");
    const auto count = static_cast<int64_t>(function_.kernels.size());
    if (number < 0 || number >= count) reader_.fail_at(piece, fmt::format("there are {} kernels above", count));
    return static_cast<int>(number);
  }

  void parse_arguments(Node& node, KernelCall& call) {
    constexpr std::pair<const char*, Access> kVerbs[] = {
        {"reads", Access::kRead}, {"writes", Access::kWrite}, {"updates", Access::kUpdate}};
    while (true) {
      const auto verb = std::ranges::find_if(kVerbs, [&](const auto& row) { return reader_.accept_word(row.first); });
      if (verb == std::end(kVerbs)) return;
      do {
        const Access access = verb->second;
        call.arguments.push_back({access == Access::kRead ? parse_known() : parse_made(node), access});
      } while (reader_.accept(','));
    }
  }

  // A value that the node's calls make: with its type and what it is where it first stands.
  ValueId parse_made(Node& node) {
    const std::string_view piece = reader_.token().text;
    const std::string name = parse_name(reader_);
    if (!reader_.accept(':')) return find(piece, name);
    const ValueId value = define(piece, name, parse_static_type());
    if (!reader_.accept_word("temporary")) node.results.push_back(value);
    return value;
  }

  // copy a to b
  Node parse_copy() {
    Node node{.kind = NodeKind::kCopy};
    node.operands = {parse_known()};
    reader_.expect_word("to");
    node.results = {parse_new(TensorType(type(node.operands[0])))};
    return node;
  }

  // fill z = dense<0.0> : tensor<64xf32>
  Node parse_fill() {
    Node node{.kind = NodeKind::kFill};
    const std::string_view piece = reader_.token().text;
    const std::string name = parse_name(reader_);
    reader_.expect('=');
    node.fill = parse_literal(reader_);
    node.results = {define(piece, name, node.fill->type)};
    return node;
  }

  // while a, b gives c, d { condition i, j { ... } body k, l { ... } }
  Node parse_loop() {
    Node node{.kind = NodeKind::kWhile};
    node.operands = parse_list('{', [&] { return parse_known(); });
    if (!node.operands.empty()) {
      reader_.expect_word("gives");
      node.results = parse_new_like(node.operands);
    }
    reader_.expect('{');
    for (const char* word : {"condition", "body"}) {
      reader_.expect_word(word);
      std::vector<ValueId> arguments = parse_new_like(node.operands);
      node.regions.push_back(parse_block());
      node.regions.back().arguments = std::move(arguments);
    }
    reader_.expect('}');
    return node;
  }

  // case p gives y: tensor<64xf32> { on 1 { ... } otherwise { ... } }
  Node parse_branches() {
    Node node{.kind = NodeKind::kCase};
    node.operands = {parse_known()};
    if (reader_.accept_word("gives")) node.results = parse_list('{', [&] { return parse_definition(); });
    reader_.expect('{');
    while (reader_.accept_word("on")) {
      const size_t start = reader_.offset();
      const int64_t number = reader_.expect_integer("a case's number");
      const std::string_view piece = reader_.text_since(start);
      if (number < 0 || number > INT_MAX) reader_.fail_at(piece, fmt::format("{} is not a case's number", piece));
      node.cases.push_back(static_cast<int>(number));
      node.regions.push_back(parse_block());
    }
    if (!reader_.accept_word("otherwise")) reader_.fail_expected("'on' or 'otherwise'");
    node.regions.push_back(parse_block());
    reader_.expect('}');
    return node;
  }

  TextReader reader_;
  Function function_;
  std::map<std::string, ValueId> values_;
};

}  // namespace

Function parse_function(std::string_view text, std::string file) {
  const Source source(text, std::move(file));
  Function function = Parser(source).run();
  verify(function);
  return function;
}

}  // namespace ingot::lowered
