// SPDX-License-Identifier: Apache-2.0
#include "reports/picture.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "reports/cell_text.h"
#include "reports/gnuplot.h"

namespace howard::reports {
namespace {

constexpr std::array<std::string_view, 7> kColors{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                  "#000000", "#E69F00", "#56B4E9"};

/// The formats of a picture, and what the script calls the file of each.
constexpr std::array<std::string_view, 2> kFormats{"png", "svg"};
using Outputs = std::array<std::string, kFormats.size()>;

std::string script_text(const Picture& picture, const Outputs& outputs) {
  return fmt::format(
      "# Draws {0}.png and {0}.svg from {0}.dat. In this folder:\n#   gnuplot {0}.gp\n\n"
      "data = '{0}.dat'\n"
      "set tics nomirror out\n"
      "set border 3 lc rgb '#444444'\n"
      "set grid lc rgb '#dddddd' lw 1 lt 1\n"
      "set key outside top center horizontal Left reverse samplen 3\n"
      "set datafile missing '?'\n"
      "{1}\n"
      "set terminal pngcairo size 900,600 noenhanced font 'sans-serif,11'\n"
      "set output '{3}'\nplot \\\n  {2}\n\n"
      "set terminal svg size 900,600 noenhanced font 'sans-serif,14' background '#ffffff'\n"
      "set output '{4}'\nreplot\nset output\n",
      picture.name, picture.settings, fmt::join(picture.curves, ", \\\n  "), outputs[0],
      outputs[1]);
}

/// The pictures, in the order of the formats. Error with where to look when gnuplot fails.
std::vector<std::string> draw(const Picture& picture, const std::filesystem::path& gnuplot,
                              const std::filesystem::path& folder) {
  Outputs outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = gnuplot_output(i);
  try {
    return draw_with_gnuplot(gnuplot, folder, script_text(picture, outputs), outputs.size());
  } catch (const Error& failure) {
    throw Error({.attempted = fmt::format("draw {}", (folder / (picture.name + ".png")).string()),
                 .value = failure.text().value,
                 .accepted = "",
                 .hint = fmt::format("`gnuplot {}.gp` in {}", picture.name, folder.string())});
  }
}

}  // namespace

void PlotFiles::add(const PlotFiles& others) {
  written.insert(written.end(), others.written.begin(), others.written.end());
  failures.insert(failures.end(), others.failures.begin(), others.failures.end());
  if (!others.not_rendered.empty()) not_rendered = others.not_rendered;
}

PlotFiles write_picture(const Picture& picture, const std::filesystem::path& folder) {
  PlotFiles files;
  const auto file = [&](std::string_view ending) {
    return folder / fmt::format("{}.{}", picture.name, ending);
  };
  const auto write = [&](std::string_view ending, const std::string& content) {
    try {
      write_file(file(ending), content);
      files.written.push_back(file(ending));
    } catch (const Error& failure) {
      files.failures.emplace_back(failure.what());
    }
  };
  Outputs outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs[i] = fmt::format("{}.{}", picture.name, kFormats[i]);
    std::error_code ignored;
    std::filesystem::remove(file(kFormats[i]), ignored);
  }
  write("dat", picture.data);
  write("gp", script_text(picture, outputs));
  const std::optional<std::filesystem::path> gnuplot = find_gnuplot();
  if (!gnuplot) {
    files.not_rendered =
        "no gnuplot on PATH: data and script are written, pictures are not; try "
        "apt-get install gnuplot-nox";
  } else if (files.failures.empty()) {
    try {
      const std::vector<std::string> drawn = draw(picture, *gnuplot, folder);
      for (std::size_t i = 0; i < drawn.size(); ++i) write(kFormats[i], drawn[i]);
    } catch (const Error& failure) {
      files.failures.emplace_back(failure.what());
    }
  }
  return files;
}

std::string gnuplot_string(std::string_view text) {
  std::string string = "'";
  for (const char c : printable(text)) string += c == '\'' ? "''" : std::string(1, c);
  return string + "'";
}

std::string gnuplot_word(std::string_view text) {
  std::string word = printable(text);
  std::ranges::replace(word, '"', '\'');
  return '"' + word + '"';
}

std::string gnuplot_color(std::size_t number) {
  return fmt::format("lc rgb '{}'", kColors[number % kColors.size()]);
}

}  // namespace howard::reports
