#include "engine/src/walk.h"

namespace ingot::engine {

void walk_steps(const Walk& walk, bool) { walk.session->pool.run_alone(walk_alone, const_cast<Walk*>(&walk)); }

}  // namespace ingot::engine
