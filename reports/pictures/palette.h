// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace howard::reports {

/// Colours and dashes are the same in every picture and on the page. Each colour is "#RRGGBB".

/// Lines and bars have so many colours, and lines so many kinds of dashes.
constexpr std::size_t kLineColors = 7;
constexpr std::size_t kLineDashes = 5;

/// Returns the colour of the line or the bar of that number; they repeat. These are Okabe and Ito's
/// colours, which stay apart for every kind of colour vision (and in print), in an order of falling
/// contrast to white.
std::string_view series_color(std::size_t number);

/// Returns the colour of a part of a bar by its name: an op ("matmul", "softmax_backward"), or what
/// a step of several chips does ("exchange"). A name has the same colour in every picture.
std::string_view part_color(std::string_view name);

/// This is the colour of the parts that have none of their own.
inline constexpr std::string_view kOthersColor = "#8c8c8c";
/// This is the colour of what is not a thing of its own: the rest of a bar, the busy time.
inline constexpr std::string_view kRestColor = "#cccccc";

/// gnuplot's open diamond: published figures in every picture and its legend, as on the page.
inline constexpr std::string_view kPublishedPoint = "pt 12";

/// Pale bars have so much of their colour. The other is that of a box that stands for all of them.
inline constexpr double kPaleShare = 0.3;
inline constexpr std::string_view kPaleColor = "#c5dff0";

/// Returns the lengths of the dashes of a line and of the gaps behind them, in pixels; an unbroken
/// line has none. They repeat.
std::span<const int> line_dashes(std::size_t number);

/// Holds a colour of a map, and where it stands between the least value (0) and the greatest (1).
struct MapStop {
  double place;
  std::string_view color;
};
/// Cells have colours between these, each darker than the one before. All are light enough for
/// black numbers.
inline constexpr std::array<MapStop, 4> kMapStops{
    {{0, "#ffffd9"}, {0.33, "#c7e9b4"}, {0.67, "#7fcdbb"}, {1, "#41b6c4"}}};

/// Returns the colour at `place` between 0 and 1 of a map.
std::string map_color(double place);

}  // namespace howard::reports
