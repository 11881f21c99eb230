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
  std::optional<PictureSize> size;  ///< If not set, as large as what is drawn needs.
  std::vector<PictureFormat> formats{PictureFormat::png, PictureFormat::svg};
  double per_inch = 96;  ///< Pixels in an inch of a PDF: with more of them its letters are smaller.

  /// Returns the size of a picture that would be `wanted` pixels large.
  PictureSize size_or(PictureSize wanted) const { return size.value_or(wanted); }
};

/// These are the most that a letter and a line of text take, in pixels of every format.
constexpr double kLetterWidth = 8.5;
constexpr double kLineHeight = 18;

/// Holds a drawing in gnuplot's words.
struct Picture {
  std::string name;   ///< The name of its files, without an ending.
  std::string title;  ///< It is broken into lines for which the picture has room.
  PictureSize size;
  std::string data;                 ///< The text of NAME.dat, which the curves call `data`.
  std::string settings;             ///< Lines of script: axes and the text beside them.
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
