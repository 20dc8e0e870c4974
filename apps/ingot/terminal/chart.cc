#include "apps/ingot/terminal/chart.h"

#include <fmt/format.h>

#include <cmath>

namespace ingot {
namespace {

constexpr double kWidth = 960, kHeight = 540;  // of the picture, in pixels
constexpr double kLeft = 90, kRight = 20, kTop = 40, kBottom = 50;
constexpr double kLetter = 6.5;  // width of one, about

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// The distance of about five ticks: 1, 2 or 5 times a power of ten.
double tick_distance(double range) {
  const double power = std::pow(10.0, std::floor(std::log10(range / 5)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (range / (step * power) <= 6) return step * power;
  }
  return 10 * power;
}

// Where an axis has lines and numbers: about five, or the powers of ten.
std::vector<double> ticks(const Axis& axis) {
  std::vector<double> at;
  if (axis.is_log) {
    for (double i = std::ceil(std::log10(axis.low)); i <= std::log10(axis.high); ++i) at.push_back(std::pow(10.0, i));
    return at;
  }
  const double distance = tick_distance(axis.high - axis.low);
  for (double i = std::ceil(axis.low / distance); i * distance <= axis.high; ++i) at.push_back(i * distance);
  return at;
}

// How much of the axis lies below x.
double share(const Axis& axis, double x) {
  if (axis.is_log) return std::log(x / axis.low) / std::log(axis.high / axis.low);
  return (x - axis.low) / (axis.high - axis.low);
}

std::string words(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(text));
}

std::string stroke(double x1, double y1, double x2, double y2, const char* style) {
  return fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" {}/>\n", x1, y1, x2, y2, style);
}

}  // namespace

Chart::Chart(const std::string& title, Axis x, Axis y) : x_(std::move(x)), y_(std::move(y)) {
  for (Axis* axis : {&x_, &y_}) {
    if (!(axis->high > axis->low)) axis->high = axis->is_log ? axis->low * 10 : axis->low + 1;
  }
  text_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      kWidth, kHeight);
  text_ += words(kLeft, 24, "start", title);
  text_ += words((kLeft + kWidth - kRight) / 2, kHeight - 12, "middle", x_.label);
  text_ += fmt::format("<g transform=\"translate(16 {:.1f}) rotate(-90)\">{}</g>\n", (kTop + kHeight - kBottom) / 2,
                       words(0, 0, "middle", y_.label));
  add_ticks();
}

double Chart::across(double x) const { return kLeft + share(x_, x) * (kWidth - kLeft - kRight); }

double Chart::down(double y) const { return kHeight - kBottom - share(y_, y) * (kHeight - kTop - kBottom); }

void Chart::add_ticks() {
  constexpr const char* kFaint = "stroke=\"#ddd\"";
  for (const double x : ticks(x_)) {
    text_ += stroke(across(x), kTop, across(x), kHeight - kBottom, kFaint);
    text_ += words(across(x), kHeight - kBottom + 16, "middle", fmt::format("{:.6g}", x));
  }
  for (const double y : ticks(y_)) {
    text_ += stroke(kLeft, down(y), kWidth - kRight, down(y), kFaint);
    text_ += words(kLeft - 6, down(y) + 4, "end", fmt::format("{:.10g}", y));
  }
}

std::string Chart::next_colour() { return fmt::format("hsl({},60%,75%)", colours_++ * 137 % 360); }

void Chart::add(const Box& box) {
  const double left = across(box.left), right = across(box.right), top = down(box.top), bottom = down(box.bottom);
  text_ += fmt::format(
      "<g><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "fill=\"{}\" stroke=\"#555\" stroke-width=\"0.5\"/>",
      escaped(box.title), left, top, right - left, bottom - top, next_colour());
  const auto letters = static_cast<size_t>(std::max(0.0, (right - left - 6) / kLetter));
  if (letters >= 4 && bottom - top >= 14) {
    text_ += words(left + 3, (top + bottom) / 2 + 4, "start", box.label.substr(0, letters));
  }
  text_ += "</g>\n";
}

void Chart::add(const Point& point) {
  text_ += fmt::format(
      "<g><title>{}</title><circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\" fill-opacity=\"0.7\" "
      "stroke=\"#555\" stroke-width=\"0.5\"/>",
      escaped(point.title), across(point.x), down(point.y), point.radius, next_colour());
  if (!point.label.empty()) {
    const bool is_far_right = across(point.x) > (kLeft + kWidth) / 2;
    const double aside = is_far_right ? -point.radius - 3 : point.radius + 3;
    text_ += words(across(point.x) + aside, down(point.y) + 4, is_far_right ? "end" : "start", point.label);
  }
  text_ += "</g>\n";
}

void Chart::add_words(double x, double y, const std::string& text) {
  text_ += words(across(x), down(y) - 4, "start", text);
}

void Chart::add_level(double y, const std::string& label) {
  text_ += stroke(kLeft, down(y), kWidth - kRight, down(y), "stroke=\"#c00\" stroke-dasharray=\"6 4\"");
  text_ += words(kWidth - kRight, down(y) - 4, "end", label);
}

void Chart::add_line(const std::vector<std::pair<double, double>>& points) {
  std::string path;
  bool is_down = false;  // the pen
  for (const auto& [x, y] : points) {
    if (std::isfinite(y)) path += fmt::format("{}{:.1f} {:.1f}", is_down ? 'L' : 'M', across(x), down(y));
    is_down = std::isfinite(y);
  }
  text_ += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#06c\" stroke-width=\"1.5\"/>\n", path);
}

}  // namespace ingot
