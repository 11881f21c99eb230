// SPDX-License-Identifier: Apache-2.0
#include "reports/page/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "reports/page/html.h"
#include "reports/pictures/frame.h"
#include "reports/pictures/palette.h"

namespace howard::reports {
namespace {

/// Returns the symbol of a legend's entry, 28 units wide and 12 high.
std::string symbol_of(const SvgKey& key) {
  switch (key.kind) {
    case SvgKey::Kind::box:
      return fmt::format("<rect x=\"2\" width=\"24\" height=\"12\" fill=\"{}\"/>", key.color);
    case SvgKey::Kind::line:
      return fmt::format(
          "<line x1=\"0\" x2=\"28\" y1=\"6\" y2=\"6\" stroke=\"{0}\" stroke-width=\"2\" "
          "stroke-dasharray=\"{1}\"/><circle cx=\"14\" cy=\"6\" r=\"4\" fill=\"{0}\"/>",
          key.color, svg_dashes(key.dashes));
    case SvgKey::Kind::dot:
      return fmt::format("<circle cx=\"14\" cy=\"6\" r=\"5\" fill=\"{}\"/>", key.color);
    case SvgKey::Kind::diamond:
      return svg_diamond(14, 6, key.color, "");
  }
  return "";
}

/// Returns the label of a mark of an axis.
std::string tick(double x, double y, std::string_view anchor, std::string_view words) {
  return fmt::format(
      "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
      html_text(words));
}

std::string range_of(const PlotAxis& axis) {
  return fmt::format("{} {:.10g} {:.10g}", axis.logarithmic ? "log" : "linear", axis.low,
                     axis.high);
}

}  // namespace

std::string svg_figure(const std::string& title, const SvgDrawing& desk, const SvgDrawing& phone,
                       const std::string& legend) {
  const std::string words = html_text(title);
  const auto svg = [&](std::string_view where, double width, const SvgDrawing& drawing) {
    return fmt::format(
        "<svg class=\"{}\" viewBox=\"0 0 {} {:.10g}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
        where, width, drawing.height, words, drawing.shapes);
  };
  return fmt::format("<figure><figcaption>{}</figcaption>\n{}{}{}</figure>\n", words,
                     svg("desk", kSvgWidth, desk), svg("phone", kSvgPhoneWidth, phone), legend);
}

std::string svg_text(double x, double y, std::string_view anchor, std::string_view words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     html_text(words));
}

std::string svg_hint(std::string_view words) {
  return words.empty() ? "" : "<title>" + html_text(words) + "</title>";
}

std::string svg_color(std::string_view color) {
  return color == "#000000" ? "var(--text)" : std::string(color);
}

std::string svg_dashes(std::size_t number) {
  const std::span<const int> lengths = line_dashes(number);
  return lengths.empty() ? "none" : fmt::format("{}", fmt::join(lengths, " "));
}

std::string svg_diamond(double x, double y, std::string_view color, std::string_view hint) {
  return fmt::format(
      "<path class=\"published\" stroke=\"{}\" d=\"M{:.1f} {:.1f}l5 5l-5 5l-5 -5z\">{}</path>\n",
      color, x, y - 5, svg_hint(hint));
}

std::string svg_axes(const SvgFrame& frame, const PlotAxis& x, const PlotAxis& y,
                     const std::string& x_label, const std::string& y_label) {
  // The page's letters are smaller than those of the pictures, for which labels are thinned.
  constexpr double kSmaller = 1.25;
  const PlotAxis across = thinned(x, kSmaller * (frame.right - frame.left));
  std::string text = "<g class=\"axes\">\n";
  for (std::size_t i = 0; i < across.marks.size(); ++i) {
    const double at = frame.x(x, across.marks[i]);
    text +=
        fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>",
                    at, frame.top, frame.bottom);
    // A label at the end of the axis must not be cut by the end of the drawing.
    const double half = drawn_width(across.labels[i]) / kSmaller / 2;
    text +=
        tick(std::min(at, frame.width - half - 2), frame.bottom + 18, "middle", across.labels[i]);
  }
  for (std::size_t i = 0; i < y.marks.size(); ++i) {
    const double at = frame.y(y, y.marks[i]);
    text +=
        fmt::format("<line class=\"grid\" x1=\"{1}\" x2=\"{2}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>",
                    at, frame.left, frame.right);
    text += tick(frame.left - 6, at + 4, "end", y.labels[i]);
  }
  const double half = drawn_width(x_label) / kSmaller / 2;
  text +=
      svg_text(std::clamp((frame.left + frame.right) / 2, half, std::max(half, frame.width - half)),
               frame.bottom + 38, "middle", x_label);
  text += fmt::format(
      "<text transform=\"translate(16 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      (frame.top + frame.bottom) / 2, html_text(y_label));
  return text + "</g>\n";
}

std::string svg_plot(const SvgFrame& frame, const PlotAxis& x, const PlotAxis& y,
                     const std::string& shapes) {
  return fmt::format(
      "<g class=\"plot\" data-frame=\"{:.10g} {:.10g} {:.10g} {:.10g}\" data-x=\"{}\" "
      "data-y=\"{}\">\n{}</g>\n",
      frame.left, frame.right, frame.top, frame.bottom, range_of(x), range_of(y), shapes);
}

std::string svg_switched(std::string_view name, const std::string& shapes) {
  if (name.empty() || shapes.empty()) return shapes;
  return fmt::format("<g data-shows=\"{}\">\n{}</g>\n", name, shapes);
}

std::string svg_legend(const std::vector<SvgKey>& keys) {
  if (keys.empty()) return "";
  std::string text = "<ul class=\"legend\">\n";
  for (const SvgKey& key : keys) {
    const std::string shows = key.shows.empty() ? "" : fmt::format(" data-shows=\"{}\"", key.shows);
    text += fmt::format(
        "<li{}><svg viewBox=\"0 0 28 12\" class=\"key\" aria-hidden=\"true\">{}</svg> {}</li>\n",
        shows, symbol_of(key), html_text(key.title));
  }
  return text + "</ul>\n";
}

}  // namespace howard::reports
