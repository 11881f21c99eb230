// SPDX-License-Identifier: Apache-2.0
#include "reports/picture.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <optional>
#include <system_error>

#include "base/file.h"
#include "reports/cell_text.h"
#include "reports/gnuplot.h"

namespace howard::reports {
namespace {

constexpr std::array<std::string_view, 7> kColors{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                  "#000000", "#E69F00", "#56B4E9"};

std::string script_text(const Picture& picture) {
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
      "set output '{0}.png'\nplot \\\n  {2}\n\n"
      "set terminal svg size 900,600 noenhanced font 'sans-serif,14' background '#ffffff'\n"
      "set output '{0}.svg'\nreplot\nset output\n",
      picture.name, picture.settings, fmt::join(picture.curves, ", \\\n  "));
}

/// Makes the pictures; false when gnuplot did not.
bool render(const std::filesystem::path& folder, const std::string& script,
            const std::vector<std::filesystem::path>& pictures) {
  const std::optional<std::filesystem::path> gnuplot = find_gnuplot();
  std::error_code ignored;
  for (const std::filesystem::path& picture : pictures) std::filesystem::remove(picture, ignored);
  if (gnuplot) run_gnuplot(*gnuplot, folder, script);
  return std::ranges::all_of(pictures, [&](const std::filesystem::path& picture) {
    return std::filesystem::exists(picture, ignored) &&
           std::filesystem::file_size(picture, ignored) > 0;
  });
}

}  // namespace

void PlotFiles::add(const PlotFiles& others) {
  written.insert(written.end(), others.written.begin(), others.written.end());
  if (!others.not_rendered.empty()) not_rendered = others.not_rendered;
}

PlotFiles write_picture(const Picture& picture, const std::filesystem::path& folder) {
  const std::string& name = picture.name;
  const std::string script = script_text(picture);
  PlotFiles files{.written = {folder / (name + ".dat"), folder / (name + ".gp")}};
  write_file(files.written[0], picture.data);
  write_file(files.written[1], script);
  const std::vector<std::filesystem::path> pictures{folder / (name + ".png"),
                                                    folder / (name + ".svg")};
  if (render(folder, script, pictures)) {
    files.written.insert(files.written.end(), pictures.begin(), pictures.end());
  } else if (!find_gnuplot()) {
    files.not_rendered =
        "no gnuplot on PATH: data and script are written, pictures are not; try "
        "apt-get install gnuplot-nox";
  } else {
    files.not_rendered = fmt::format("gnuplot failed: run `gnuplot {0}.gp` in {1} to see why", name,
                                     folder.string());
  }
  return files;
}

std::string gnuplot_string(std::string_view text) {
  std::string string = "'";
  for (const char c : printable(text)) string += c == '\'' ? "''" : std::string(1, c);
  return string + "'";
}

std::string gnuplot_color(std::size_t number) {
  return fmt::format("lc rgb '{}'", kColors[number % kColors.size()]);
}

}  // namespace howard::reports
