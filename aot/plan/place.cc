#include "aot/plan/place.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "aot/plan/plan.h"

namespace ingot::plan {
namespace {

using Order = std::vector<int>;  // item indices, in the order in which they are placed
enum class Fit { kFirst, kBest };

// Places items one after the other, each at the lowest (or tightest) gap among those already placed and alive with it.
Placement place_in_order(const std::vector<Item>& items, const Order& order, Fit fit) {
  Placement placement;
  placement.offsets.assign(items.size(), 0);
  std::vector<int> placed;  // by offset
  for (int id : order) {
    const Item& item = items[id];
    const int64_t need = align_up(item.bytes);
    int64_t gap_begin = 0;
    int64_t chosen = -1;
    int64_t chosen_slack = std::numeric_limits<int64_t>::max();
    const auto consider = [&](int64_t begin, int64_t end) {
      if (end - begin < need || (chosen >= 0 && fit == Fit::kFirst)) return;
      if (end - begin - need < chosen_slack) {
        chosen = begin;
        chosen_slack = end - begin - need;
      }
    };
    for (int other : placed) {
      if (items[other].last < item.first || item.last < items[other].first) continue;
      consider(gap_begin, placement.offsets[other]);
      gap_begin = std::max(gap_begin, placement.offsets[other] + align_up(items[other].bytes));
    }
    if (chosen < 0) chosen = gap_begin;
    placement.offsets[id] = chosen;
    placement.bytes = std::max(placement.bytes, chosen + need);
    const auto at = std::upper_bound(placed.begin(), placed.end(), chosen,
                                     [&](int64_t offset, int p) { return offset < placement.offsets[p]; });
    placed.insert(at, id);
  }
  return placement;
}

Order sorted_by(const std::vector<Item>& items, const std::function<double(const Item&)>& key) {
  Order order(items.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(items[a]) > key(items[b]); });
  return order;
}

// How many items live at the steps of an item: a crowded item is placed early.
std::vector<double> crowding(const std::vector<Item>& items) {
  std::vector<double> crowd(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    for (const Item& other : items) {
      if (other.last >= items[i].first && items[i].last >= other.first) crowd[i] += static_cast<double>(other.bytes);
    }
  }
  return crowd;
}

}  // namespace

int64_t lower_bound_bytes(const std::vector<Item>& items) {
  std::map<int, int64_t> change;
  for (const Item& item : items) {
    change[item.first] += align_up(item.bytes);
    change[item.last + 1] -= align_up(item.bytes);
  }
  int64_t live = 0;
  int64_t most = 0;
  for (const auto& [step, bytes] : change) most = std::max(most, live += bytes);
  return most;
}

Placement place(const std::vector<Item>& items) {
  const int64_t bound = lower_bound_bytes(items);
  const std::vector<double> crowd = crowding(items);
  const auto size = [](const Item& i) { return static_cast<double>(i.bytes); };
  const auto lifetime = [](const Item& i) { return static_cast<double>(i.last - i.first); };
  const Order orders[] = {
      sorted_by(items, size),
      sorted_by(items, lifetime),
      sorted_by(items, [&](const Item& i) { return size(i) * (lifetime(i) + 1); }),
      sorted_by(items, [&](const Item& i) { return crowd[&i - items.data()]; }),
      sorted_by(items, [](const Item& i) { return -static_cast<double>(i.first); }),
  };
  Placement best;
  best.bytes = std::numeric_limits<int64_t>::max();
  Order best_order;
  Fit best_fit = Fit::kFirst;
  for (const Order& order : orders) {
    for (Fit fit : {Fit::kFirst, Fit::kBest}) {
      Placement placement = place_in_order(items, order, fit);
      if (placement.bytes >= best.bytes) continue;
      best = std::move(placement);
      best_order = order;
      best_fit = fit;
    }
  }
  if (items.empty()) return {};

  // An item that ends at the top is what makes the arena tall: it is moved to an earlier place in the order.
  std::mt19937 random(1);
  const int attempts = static_cast<int>(std::min<size_t>(20000, 20'000'000 / (items.size() * items.size() + 1)));
  for (int i = 0; i < attempts && best.bytes > bound; ++i) {
    Order order = best_order;
    std::vector<size_t> tops;
    for (size_t k = 0; k < order.size(); ++k) {
      if (best.offsets[order[k]] + align_up(items[order[k]].bytes) == best.bytes) tops.push_back(k);
    }
    const size_t from = tops[random() % tops.size()];
    const size_t to = random() % (from + 1);
    std::rotate(order.begin() + to, order.begin() + from, order.begin() + from + 1);
    Placement placement = place_in_order(items, order, best_fit);
    if (placement.bytes > best.bytes) continue;
    best = std::move(placement);
    best_order = std::move(order);
  }
  return best;
}

}  // namespace ingot::plan
