// The state table of a lowered function alone.
#pragma once

#include "aot/lowered/lowered.h"
#include "aot/plan/tables.h"

namespace ingot {

inline plan::StateTable state_of(const lowered::Function& function) {
  plan::StateTable state;
  const auto add = [&](const std::vector<lowered::Port>& ports, const std::vector<lowered::ValueId>& values) {
    for (size_t i = 0; i < ports.size(); ++i) {
      if (ports[i].is_state) state.add(ports[i].name, function.type(values[i]), "");
    }
  };
  add(function.arguments, function.body.arguments);
  add(function.results, function.body.results);
  return state;
}

}  // namespace ingot
