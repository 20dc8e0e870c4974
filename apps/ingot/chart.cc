#include "apps/ingot/chart.h"

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

std::string words(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(text));
}

std::string stroke(double x1, double y1, double x2, double y2, const char* style) {
  return fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" {}/>\n", x1, y1, x2, y2, style);
}

}  // namespace

Chart::Chart(const std::string& title, Axis x, Axis y) : x_(std::move(x)), y_(std::move(y)) {
  for (Axis* axis : {&x_, &y_}) {
    if (!(axis->high > axis->low)) axis->high = axis->low + 1;
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

double Chart::across(double x) const { return kLeft + (x - x_.low) / (x_.high - x_.low) * (kWidth - kLeft - kRight); }

double Chart::down(double y) const {
  return kHeight - kBottom - (y - y_.low) / (y_.high - y_.low) * (kHeight - kTop - kBottom);
}

void Chart::add_ticks() {
  constexpr const char* kFaint = "stroke=\"#ddd\"";
  const double x_distance = tick_distance(x_.high - x_.low), y_distance = tick_distance(y_.high - y_.low);
  for (double i = std::ceil(x_.low / x_distance); i * x_distance <= x_.high; ++i) {
    const double at = across(i * x_distance);
    text_ += stroke(at, kTop, at, kHeight - kBottom, kFaint);
    text_ += words(at, kHeight - kBottom + 16, "middle", fmt::format("{:.6g}", i * x_distance));
  }
  for (double i = std::ceil(y_.low / y_distance); i * y_distance <= y_.high; ++i) {
    const double at = down(i * y_distance);
    text_ += stroke(kLeft, at, kWidth - kRight, at, kFaint);
    text_ += words(kLeft - 6, at + 4, "end", fmt::format("{:.10g}", i * y_distance));
  }
}

void Chart::add(const Box& box) {
  const double left = across(box.left), right = across(box.right), top = down(box.top), bottom = down(box.bottom);
  const int hue = boxes_++ * 137 % 360;  // neighbours differ
  text_ += fmt::format(
      "<g><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "fill=\"hsl({},60%,75%)\" stroke=\"#555\" stroke-width=\"0.5\"/>",
      escaped(box.title), left, top, right - left, bottom - top, hue);
  const auto letters = static_cast<size_t>(std::max(0.0, (right - left - 6) / kLetter));
  if (letters >= 4 && bottom - top >= 14) {
    text_ += words(left + 3, (top + bottom) / 2 + 4, "start", box.label.substr(0, letters));
  }
  text_ += "</g>\n";
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
