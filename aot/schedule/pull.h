// Pull: makes the elements of a kernel's values on request, inside one loops kernel.
//
// Some values lie in buffers, some are answered by the template (an accumulator, a scratch row), all others are made
// from their operands by their op's `element` or `access`. A value that several ops read is computed once per index and
// scope and named by a `let`. A reshape costs nothing over elementwise ops and buffers: they are addressed in the
// reshaped coordinates.
#pragma once

#include <map>

#include "aot/loops/element.h"

namespace ingot::schedule {

class Pull final : public loops::ElementSource {
 public:
  using Answer = std::function<loops::Expr(const std::vector<loops::Index>& index, loops::Expr mask)>;

  explicit Pull(loops::KernelBuilder& b) : b_(b) { memos_.emplace_back(); }

  // `value` lies in `buffer`, row-major.
  void bind(const Value* value, loops::BufferId buffer) { buffers_[value] = buffer; }
  // `answer` gives the elements of `value` from now on; it is asked anew each time.
  void answer(const Value* value, Answer answer) { answers_[value] = std::move(answer); }

  loops::Expr element(const Value* value, const std::vector<loops::Index>& index, loops::Expr mask) override;
  // Fetches the rows that so many bytes of the value, from `index` on, are made of: those whose place data gives.
  void prefetch_rows(const Value* value, const std::vector<loops::Index>& index, int64_t bytes);

  // What is pulled while a Scope lives may be used again until it ends. One for each block of statements.
  class Scope {
   public:
    explicit Scope(Pull& pull) : pull_(pull) { pull_.memos_.emplace_back(); }
    ~Scope() { pull_.memos_.pop_back(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Pull& pull_;
  };

  // While a Square lives, as many vectors are pulled as each has lanes, at neighbouring places of a dimension, one after
  // the other and unmasked. Of what buffers have in line along that dimension, vectors are loaded so and transposed.
  class Square {
   public:
    // `first`: the first place, a variable.
    Square(Pull& pull, loops::VarId first) : pull_(pull), first_(first), depth_(pull.memos_.size()) {
      pull_.square_ = this;
    }
    ~Square() { pull_.square_ = nullptr; }
    Square(const Square&) = delete;
    Square& operator=(const Square&) = delete;

    void enter(int64_t place) { place_ = place; }  // counted from the first
    // The vector that lies at `index` in a buffer; null where it is not transposed.
    loops::Expr load(loops::BufferId buffer, const loops::Index& index);

   private:
    struct Loaded {
      loops::BufferId buffer;
      loops::Index index;  // of the first place
      loops::TileId vectors;
    };

    Pull& pull_;
    loops::VarId first_;
    size_t depth_;  // of scopes around it
    int64_t place_ = 0;
    std::vector<Loaded> loaded_;
  };

 private:
  struct Made {
    const Value* value;
    std::vector<loops::Index> index;
    loops::Expr mask;
    const Shape* view;
    loops::Expr element;
  };

  loops::Expr make(const Value* value, const std::vector<loops::Index>& index, const loops::Expr& mask);

  loops::KernelBuilder& b_;
  std::map<const Value*, loops::BufferId> buffers_;
  std::map<const Value*, Answer> answers_;
  std::vector<std::vector<Made>> memos_;  // innermost scope last
  const Shape* view_ = nullptr;           // the coordinates of `index` where they are not the value's own
  Square* square_ = nullptr;
};

// Equal as trees.
bool same(const loops::Expr& a, const loops::Expr& b);

// The values of a region of scalars for given arguments.
std::vector<loops::Expr> run_region(loops::KernelBuilder& b, const Block& region,
                                    const std::vector<loops::Expr>& arguments);

}  // namespace ingot::schedule
