// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace howard::reports {

struct PlotFiles {
  std::vector<std::filesystem::path> written;
  /// Says why there are no pictures, and what to try; empty if there are.
  std::string not_rendered;
  /// Says what went wrong with files that should have been written, in a sentence each, which names
  /// the file.
  std::vector<std::string> failures;

  void add(const PlotFiles& others);
};

enum class PictureFormat : std::uint8_t { png, svg, pdf };

/// Returns the name, which is also the ending of its file.
std::string_view name_of(PictureFormat format);

/// Holds a size in pixels. Letters have the same number of them in every format.
struct PictureSize {
  int width = 900;
  int height = 600;
};

/// Says where pictures go and what they are.
struct Canvas {
  std::filesystem::path folder;
  /// If not set, as large as what is drawn needs. A picture that needs more height takes it.
  std::optional<PictureSize> size;
  std::vector<PictureFormat> formats{PictureFormat::png, PictureFormat::svg};
  std::string suffix = {};  ///< Stands behind an experiment's name in the names of its files.
  double per_inch = 96;  ///< Pixels in an inch of a PDF: with more of them its letters are smaller.

  /// Returns the size of a picture that would be `wanted` pixels large.
  PictureSize size_or(PictureSize wanted) const { return size.value_or(wanted); }
};

/// This is the most that a line of text takes, in pixels of every format.
constexpr double kLineHeight = 18;

/// Describes an entry of a legend; what it has not is empty.
struct LegendEntry {
  std::string title;
  std::string box;    ///< The colour of a filled box: "#0072B2".
  std::string line;   ///< gnuplot's style of a line: "lc rgb '#0072B2' lw 2".
  std::string point;  ///< gnuplot's style of a symbol: "lc rgb '#0072B2' pt 7".
};

/// Holds a drawing in gnuplot's words, and the texts around its plot. Texts are broken into lines
/// for which the picture has room; frame.h places them.
struct Picture {
  std::string name;  ///< The name of its files, without an ending.
  std::string title;
  PictureSize size;                      ///< It becomes higher if the texts and the plot need more.
  std::string x_label = {};              ///< It stands below the horizontal axis.
  std::string y_label = {};              ///< It stands above the vertical axis.
  std::string right_label = {};          ///< It stands above what is at the right of the plot.
  std::vector<LegendEntry> legend = {};  ///< It stands below everything else.
  /// These are the pixels beside the plot: for the numbers of its axes, and for columns of text.
  double left = 60, right = 20;
  double head = 0;                  ///< Pixels above the plot that the drawing uses itself.
  double foot = 32;                 ///< Pixels below it, for the numbers of the axis.
  double plot_height = 180;         ///< The plot is at least as high.
  bool square = false;              ///< The plot is as wide as it is high.
  std::string data;                 ///< The text of NAME.dat, which the curves call `data`.
  std::string settings;             ///< Lines of script: axes and marks.
  std::vector<std::string> curves;  ///< The parts of the plot command, from back to front.
};

/// Writes NAME.dat, NAME.gp (`gnuplot NAME.gp` in that folder draws it again) and the picture in
/// the canvas's formats, in the project's style, each whole or not at all. Without gnuplot the data
/// and the script are still written, and older pictures of that name are removed because they would
/// show other data.
PlotFiles write_picture(const Picture& picture, const Canvas& canvas);

/// Returns `text` as a gnuplot string, without control characters.
std::string gnuplot_string(std::string_view text);

/// Returns `text` as one word of a data file, without control characters and double quotes.
std::string gnuplot_word(std::string_view text);

/// Returns "lc rgb '#0072B2'" for a colour, or for the series_color() of a number.
std::string gnuplot_color(std::string_view color);
std::string gnuplot_color(std::size_t number);

/// Returns "dt 1" or "dt (7,4)", the dashes of line_dashes().
std::string gnuplot_dashes(std::size_t number);

/// Returns "set palette defined (...)", the colours of maps.
std::string gnuplot_palette();

}  // namespace howard::reports
