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
  /// Why there are no pictures, and what to try; empty when there are.
  std::string not_rendered;
  /// What went wrong with files that should have been written, a sentence each, which names the
  /// file.
  std::vector<std::string> failures;

  void add(const PlotFiles& others);
};

enum class PictureFormat : std::uint8_t { png, svg, pdf };

/// Also the ending of its file.
std::string_view name_of(PictureFormat format);

/// In pixels; a PDF has 96 of them in an inch.
struct PictureSize {
  int width = 900;
  int height = 600;
};

/// Where pictures go and what they are.
struct Canvas {
  std::filesystem::path folder;
  std::optional<PictureSize> size;  ///< Not set: as large as what is drawn needs.
  std::vector<PictureFormat> formats{PictureFormat::png, PictureFormat::svg};

  /// Of a picture that would be `wanted` pixels large.
  PictureSize size_or(PictureSize wanted) const { return size.value_or(wanted); }
};

/// What a letter and a line of text take at most, in pixels of every format.
constexpr double kLetterWidth = 8.5;
constexpr double kLineHeight = 18;

/// A drawing in gnuplot's words.
struct Picture {
  std::string name;   ///< Of its files, without an ending.
  std::string title;  ///< Broken into lines that the picture has room for.
  PictureSize size;
  std::string data;                 ///< The text of NAME.dat, which the curves call `data`.
  std::string settings;             ///< Lines of script: axes and what is written beside them.
  std::vector<std::string> curves;  ///< The parts of the plot command, from the back to the front.
};

/// Writes NAME.dat, NAME.gp (`gnuplot NAME.gp` in that folder draws it again) and the picture in
/// the canvas's formats, in the project's style, each whole or not at all. Without a gnuplot the
/// data and the script are written all the same; older pictures of that name are removed, as they
/// would show other data.
PlotFiles write_picture(const Picture& picture, const Canvas& canvas);

/// `text` as a gnuplot string, without control characters.
std::string gnuplot_string(std::string_view text);

/// `text` as one word of a data file, without control characters and double quotes.
std::string gnuplot_word(std::string_view text);

/// "lc rgb '#0072B2'": of the given line or bar. Okabe and Ito's colours, which stay apart for
/// every kind of colour vision (and in print), in an order of falling contrast to white.
std::string gnuplot_color(std::size_t number);

}  // namespace howard::reports
