#include "aot/plan/parse_plan.h"

#include <fmt/format.h>

#include <climits>
#include <map>

#include "aot/graph/text/text_reader.h"

namespace ingot::plan {
namespace {

class Parser {
 public:
  explicit Parser(const Source& source) : reader_(source, 0, source.text().size()) {}

  Plan run() {
    reader_.expect_word("plan");
    plan_.entry = parse_name(reader_);
    reader_.expect('{');
    reader_.expect_word("arena");
    plan_.arena_bytes = parse_bytes();
    reader_.expect('(');
    expect_words({"lower", "bound"});
    plan_.lower_bound_bytes = integer("a number of bytes");
    reader_.expect(')');
    reader_.expect(',');
    reader_.expect_word("scratch");
    plan_.scratch_bytes = parse_bytes();
    expect_words({"a", "thread"});
    while (reader_.accept_word("buffer")) parse_buffer();
    while (reader_.accept_word("step")) parse_step();
    if (!reader_.accept('}')) reader_.fail_expected(plan_.steps.empty() ? "'buffer', 'step' or '}'" : "'step' or '}'");
    reader_.expect(TokenKind::kEnd, "the end of the text");
    for (Buffer& buffer : plan_.buffers) {
      for (int* step : {&buffer.first_step, &buffer.last_step}) {
        if (*step == kAfterLastStep) *step = static_cast<int>(plan_.steps.size());
      }
    }
    return std::move(plan_);
  }

 private:
  static constexpr int kAfterLastStep = INT_MAX;  // until the number of steps is known

  void expect_words(std::initializer_list<const char*> words) {
    for (const char* word : words) reader_.expect_word(word);
  }

  // From 0 to `most`.
  int64_t integer(std::string_view what, int64_t most = INT64_MAX) {
    const size_t start = reader_.offset();
    const int64_t value = reader_.expect_integer(what);
    const std::string_view piece = reader_.text_since(start);
    if (value < 0 || value > most) reader_.fail_at(piece, fmt::format("{} is not {}", piece, what));
    return value;
  }

  int small(std::string_view what) { return static_cast<int>(integer(what, INT_MAX - 1)); }

  int64_t parse_bytes() {
    const int64_t bytes = integer("a number of bytes");
    reader_.expect_word("bytes");
    return bytes;
  }

  int parse_time() {
    if (reader_.accept_word("start")) return kBeforeFirstStep;
    return reader_.accept_word("end") ? kAfterLastStep : small("a step");
  }

  // buffer h: tensor<32x10xf32> arena+0 1280 bytes, steps 0 to 3, in place of x
  void parse_buffer() {
    Buffer buffer;
    const std::string_view piece = reader_.token().text;
    buffer.name = parse_name(reader_);
    if (buffers_.contains(buffer.name)) reader_.fail_at(piece, "another buffer has this name");
    reader_.expect(':');
    const std::string_view type = reader_.token().text;
    buffer.type = parse_type(reader_);
    if (!buffer.type.is_static()) reader_.fail_at(type, "the shape of a buffer is known");
    parse_place(buffer);
    const std::string_view bytes = reader_.token().text;
    if (parse_bytes() != buffer.bytes()) {
      reader_.fail_at(bytes, fmt::format("{} has {} bytes", to_string(buffer.type), buffer.bytes()));
    }
    reader_.expect(',');
    reader_.expect_word("steps");
    buffer.first_step = parse_time();
    reader_.expect_word("to");
    buffer.last_step = parse_time();
    if (reader_.accept(',')) {
      expect_words({"in", "place", "of"});
      buffer.in_place_of = parse_known();
    }
    buffers_.emplace(buffer.name, static_cast<int>(plan_.buffers.size()));
    plan_.buffers.push_back(std::move(buffer));
  }

  // arena+64, state[2]+640, rodata+0, input[0], output[1]
  void parse_place(Buffer& buffer) {
    const Token word = reader_.expect(TokenKind::kIdentifier, "a place");
    int space = 0;
    while (space < kSpaceCount && name(static_cast<Space>(space)) != word.text) ++space;
    if (space == kSpaceCount) {
      reader_.fail_at(word.text,
                      fmt::format("there is no space {}; there are arena, state, rodata, input and output", word.text));
    }
    buffer.space = static_cast<Space>(space);
    if (is_indexed(buffer.space)) {
      reader_.expect('[');
      buffer.index = small("a position");
      reader_.expect(']');
    }
    if (is_addressed(buffer.space)) {
      reader_.expect('+');
      buffer.offset_bytes = integer("an offset in bytes");
    }
  }

  // step 1: f32_rows (kernel 4, call 1, tasks 2, barrier) reads h, y writes lossrow, dlogits
  void parse_step() {
    Step step;
    const std::string_view number = reader_.token().text;
    if (integer("a step's number") != static_cast<int64_t>(plan_.steps.size())) {
      reader_.fail_at(number, fmt::format("this is step {}", plan_.steps.size()));
    }
    reader_.expect(':');
    step.kernel_name = parse_name(reader_);
    if (step.kernel_name == "jump" && reader_.accept_word("to")) return parse_jump();
    reader_.expect('(');
    reader_.expect_word("kernel");
    step.kernel = small("a kernel's number");
    reader_.expect(',');
    if (reader_.accept_word("call")) {
      step.call = small("a call's number");
      reader_.expect(',');
    }
    reader_.expect_word("tasks");
    step.task_count = integer("a number of tasks");
    if (reader_.accept(',')) {
      reader_.expect_word("barrier");
      step.barrier = true;
    }
    reader_.expect(')');
    while (reader_.at_word("reads") || reader_.at_word("writes")) {
      const bool writes = reader_.take().text == "writes";
      do {
        step.buffers.push_back(parse_known());
        step.writes.push_back(writes);
      } while (reader_.accept(','));
    }
    plan_.steps.push_back(std::move(step));
  }

  // step 3: jump to 7 unless p is 1 (barrier)
  void parse_jump() {
    Step step;
    step.kind = StepKind::kJump;
    step.target = small("a step");
    if (reader_.accept_word("unless")) {
      step.kind = StepKind::kJumpUnless;
      step.buffers = {parse_known()};
      step.writes = {false};
      reader_.expect_word("is");
      step.value = small("a value");
    }
    if (reader_.accept('(')) {
      reader_.expect_word("barrier");
      reader_.expect(')');
      step.barrier = true;
    }
    plan_.steps.push_back(std::move(step));
  }

  // The name of a buffer above.
  int parse_known() {
    const std::string_view piece = reader_.token().text;
    const auto found = buffers_.find(parse_name(reader_));
    if (found == buffers_.end()) reader_.fail_at(piece, fmt::format("no buffer above is named {}", piece));
    return found->second;
  }

  TextReader reader_;
  Plan plan_;
  std::map<std::string, int> buffers_;
};

}  // namespace

Plan parse_plan(std::string_view text, std::string file) {
  const Source source(text, std::move(file));
  return Parser(source).run();
}

}  // namespace ingot::plan
