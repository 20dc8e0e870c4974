// A picture with two axes, as SVG text of its own. Equal calls give equal text.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ingot {

struct Axis {
  std::string label;
  double low, high;     // what the axis shows
  bool is_log = false;  // then low > 0
};

class Chart {
 public:
  Chart(const std::string& title, Axis x, Axis y);

  // Everything below is in the axes' own units.
  struct Box {
    double left, right, bottom, top;
    std::string label;  // written inside, as far as it fits
    std::string title;  // shown where a viewer points at the box
  };
  void add(const Box& box);  // each in a colour of its own
  struct Point {
    double x, y;
    double radius;      // in pixels
    std::string label;  // written beside it
    std::string title;  // shown where a viewer points at it
  };
  void add(const Point& point);                                  // likewise
  void add_words(double x, double y, const std::string& words);  // that begin there
  void add_level(double y, const std::string& label);
  void add_line(const std::vector<std::pair<double, double>>& points);  // broken where a y is not finite

  std::string svg() const { return text_ + "</svg>\n"; }

 private:
  double across(double x) const;  // in pixels
  double down(double y) const;
  void add_ticks();
  std::string next_colour();  // neighbours differ

  Axis x_, y_;
  std::string text_;
  int colours_ = 0;
};

}  // namespace ingot
