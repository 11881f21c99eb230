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

/// This is the colour of what is not a thing of its own: the rest of a bar, the busy time.
inline constexpr std::string_view kRestColor = "#cccccc";

/// Returns the lengths of the dashes of a line and of the gaps behind them, in pixels; an unbroken
/// line has none. They repeat.
std::span<const int> line_dashes(std::size_t number);

/// Holds a colour of a map, and where it stands between the least value (0) and the greatest (1).
struct MapStop {
  double place;
  std::string_view color;
};
/// Cells have colours between these. All are light enough for black numbers.
inline constexpr std::array<MapStop, 3> kMapStops{
    {{0, "#f7fbff"}, {0.5, "#9ecae1"}, {1, "#e69f00"}}};

/// Returns the colour at `place` between 0 and 1 of a map.
std::string map_color(double place);

}  // namespace howard::reports
