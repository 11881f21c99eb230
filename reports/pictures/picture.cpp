// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/picture.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "reports/pictures/frame.h"
#include "reports/pictures/gnuplot.h"
#include "reports/pictures/palette.h"
#include "reports/tables/cell_text.h"

namespace howard::reports {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kEndings{"png", "svg", "pdf"};

/// Returns the lines that make gnuplot write one format. Letters have the same size in all of them:
/// 11 points are 14.67 pixels.
std::string terminal_text(PictureFormat format, const PictureSize& size, double per_inch) {
  const auto [width, height] = size;
  if (format == PictureFormat::png) {
    return fmt::format("pngcairo size {},{} noenhanced font 'sans-serif,11'", width, height);
  }
  if (format == PictureFormat::svg) {
    return fmt::format("svg size {},{} noenhanced font 'sans-serif,14' background '#ffffff'", width,
                       height);
  }
  // A point of pdfcairo's fonts is a pixel of 72 an inch, times 4/3.
  constexpr double kUsual = 96;
  constexpr double kPoints = 8.25;
  return fmt::format(
      "pdfcairo size {:.4g}in,{:.4g}in noenhanced font 'sans-serif,{}' fontscale {:.3g} "
      "linewidth {:.3g} pointscale {:.3g}",
      width / per_inch, height / per_inch, kPoints, kUsual / per_inch, kUsual / per_inch,
      kUsual / per_inch);
}

/// Returns the script. `outputs` is what it calls the file of each format.
std::string script_text(const Picture& picture, const Canvas& canvas,
                        const std::vector<std::string>& outputs) {
  const std::vector<PictureFormat>& formats = canvas.formats;
  const Frame frame = frame_of(picture);
  std::string text = fmt::format(
      "# Draws {1} from {0}.dat. In this folder:\n#   gnuplot {0}.gp\n\n"
      "data = '{0}.dat'\n"
      "set tics nomirror out scale 0.5\n"
      "set border 3 lc rgb '#444444'\n"
      "set grid lc rgb '#dddddd' lw 1 lt 1\n"
      "set datafile missing '?'\n"
      "{2}{3}\n",
      picture.name, join(outputs, " and "), frame_text(picture, frame), picture.settings);
  for (std::size_t i = 0; i < formats.size(); ++i) {
    text += fmt::format("set terminal {}\nset output '{}'\n",
                        terminal_text(formats[i], frame.size, canvas.per_inch), outputs[i]);
    text += i == 0 ? fmt::format("plot \\\n  {}\n\n", fmt::join(picture.curves, ", \\\n  "))
                   : std::string("replot\n\n");
  }
  return text + "set output\n";
}

/// This also removes those in formats that are not asked for now.
void remove_older(const fs::path& folder, const std::string& name) {
  std::error_code ignored;
  for (const std::string_view ending : kEndings) {
    fs::remove(folder / fmt::format("{}.{}", name, ending), ignored);
  }
}

/// Returns the pictures in the order of the formats. Throws Error, with where to look, if gnuplot
/// fails.
std::vector<std::string> draw(const Picture& picture, const fs::path& gnuplot,
                              const Canvas& canvas) {
  std::vector<std::string> outputs;
  for (std::size_t i = 0; i < canvas.formats.size(); ++i) outputs.push_back(gnuplot_output(i));
  try {
    return draw_with_gnuplot(gnuplot, canvas.folder, script_text(picture, canvas, outputs),
                             outputs.size());
  } catch (const Error& failure) {
    const fs::path file =
        canvas.folder / fmt::format("{}.{}", picture.name, name_of(canvas.formats.front()));
    throw Error(
        {.attempted = "draw " + file.string(),
         .value = failure.text().value,
         .hint = fmt::format("`gnuplot {}.gp` in {}", picture.name, canvas.folder.string())});
  }
}

}  // namespace

void PlotFiles::add(const PlotFiles& others) {
  written.insert(written.end(), others.written.begin(), others.written.end());
  failures.insert(failures.end(), others.failures.begin(), others.failures.end());
  if (!others.not_rendered.empty()) not_rendered = others.not_rendered;
}

std::string_view name_of(PictureFormat format) {
  return kEndings.at(static_cast<std::size_t>(format));
}

PlotFiles write_picture(const Picture& picture, const Canvas& canvas) {
  PlotFiles files;
  const auto file = [&](std::string_view ending) {
    return canvas.folder / fmt::format("{}.{}", picture.name, ending);
  };
  const auto write = [&](std::string_view ending, const std::string& content) {
    try {
      write_file(file(ending), content);
      files.written.push_back(file(ending));
    } catch (const Error& failure) {
      files.failures.emplace_back(failure.what());
    }
  };
  std::vector<std::string> outputs;
  for (const PictureFormat format : canvas.formats) {
    outputs.push_back(fmt::format("{}.{}", picture.name, name_of(format)));
  }
  remove_older(canvas.folder, picture.name);
  write("dat", picture.data);
  write("gp", script_text(picture, canvas, outputs));
  const std::optional<fs::path> gnuplot = find_gnuplot();
  if (!gnuplot) {
    files.not_rendered =
        "no gnuplot on PATH: data and script are written, pictures are not; try "
        "apt-get install gnuplot-nox";
  } else if (files.failures.empty()) {
    try {
      const std::vector<std::string> drawn = draw(picture, *gnuplot, canvas);
      for (std::size_t i = 0; i < drawn.size(); ++i) write(name_of(canvas.formats[i]), drawn[i]);
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

std::string gnuplot_color(std::string_view color) { return fmt::format("lc rgb '{}'", color); }

std::string gnuplot_color(std::size_t number) { return gnuplot_color(series_color(number)); }

std::string gnuplot_dashes(std::size_t number) {
  const std::span<const int> lengths = line_dashes(number);
  return lengths.empty() ? "dt 1" : fmt::format("dt ({})", fmt::join(lengths, ","));
}

std::string gnuplot_palette() {
  std::string stops;
  for (const auto& [place, color] : kMapStops) {
    stops += fmt::format("{}{:.6g} '{}'", stops.empty() ? "" : ", ", place, color);
  }
  return fmt::format("set palette defined ({})\n", stops);
}

}  // namespace howard::reports
