// Triangles of tensors that are known, or that nobody needs: what masks hide, and what products need not make therefore.
//
// Of floats, what is known supposes numbers: 0 * x is 0, and -inf - x is -inf. What is the same along a line, as the maximum of
// a row of scores, is supposed so only where the line has elements outside of triangles: these tell if it is none.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "aot/graph/op.h"

namespace ingot {

// Where index[ahead] > index[behind] + offset.
struct Triangle {
  int ahead, behind;
  int64_t offset;
  bool operator==(const Triangle&) const = default;
};

struct KnownTriangle {
  Triangle where;
  double value;  // of every element there
};

// Of the values of blocks, and of blocks inside them.
class Triangles {
 public:
  // Blocks come before those inside them.
  void read(const Block& block);

  // Of a product: triangles of its iteration space (loops::Contraction) at whose points it is 0, or makes results that
  // nobody needs.
  std::vector<Triangle> unneeded_products(const Op& op) const;

 private:
  // An integer as a sum over a value's indices.
  struct Linear {
    int64_t constant = 0;
    std::vector<int64_t> coefficients;
  };

  void read_op(const Op& op);
  void read_changes(const Op& op);
  void read_linear(const Op& op);
  void read_compare(const Op& op);
  void read_constant(const Value& value);
  void read_elementwise(const Op& op);
  void read_uses(const Op& op);
  bool shows(const Value& value, const Triangle& where, const std::vector<Triangle>& hidden) const;
  bool changes_along(const Value& value, int dim) const;
  std::vector<Triangle> unneeded_by(const Op& reader, int operand) const;
  std::optional<double> value_at(const Value& value, const Triangle& where) const;
  const Linear* linear_of(const Value* value);

  std::map<const Value*, Linear> linear_;
  std::map<const Value*, std::vector<bool>> changes_;  // along which dimensions; of what is not here: along all
  std::map<const Value*, std::vector<KnownTriangle>> known_;
  std::map<const Value*, std::vector<Triangle>> unneeded_;
};

}  // namespace ingot
