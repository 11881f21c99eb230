// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
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

/// A drawing in gnuplot's words.
struct Picture {
  std::string name;                 ///< Of its files, without an ending.
  std::string data;                 ///< The text of NAME.dat, which the curves call `data`.
  std::string settings;             ///< Lines of script: titles, axes.
  std::vector<std::string> curves;  ///< The parts of the plot command, from the back to the front.
};

/// Writes NAME.dat, NAME.gp (`gnuplot NAME.gp` in that folder draws it again), NAME.png and
/// NAME.svg, in the project's style, each whole or not at all. Without a gnuplot the data and the
/// script are written all the same, and older pictures of that name are removed, as they would show
/// other data.
PlotFiles write_picture(const Picture& picture, const std::filesystem::path& folder);

/// `text` as a gnuplot string, without control characters.
std::string gnuplot_string(std::string_view text);

/// `text` as one word of a data file, without control characters and double quotes.
std::string gnuplot_word(std::string_view text);

/// "lc rgb '#0072B2'": of the given line or bar. Okabe and Ito's colours, which stay apart for
/// every kind of colour vision (and in print), in an order of falling contrast to white.
std::string gnuplot_color(std::size_t number);

}  // namespace howard::reports
