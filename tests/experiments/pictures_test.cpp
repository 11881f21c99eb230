// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>

#include "base/file.h"
#include "base/text.h"
#include "reports/pictures/plot.h"
#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

namespace fs = std::filesystem;

TEST(Pictures, NoTwoHaveOneTitle) {
  std::multiset<std::string> titles;
  for (const auto& experiment : all_experiments(built_in_box())) {
    const harness::Presentation shown = experiment->presentation();
    for (const auto& plot : shown.plots) titles.insert(plot.title);
    for (const auto& chart : shown.bar_charts) titles.insert(chart.title);
    for (const auto& map : shown.heat_maps) titles.insert(map.title);
  }
  EXPECT_GT(titles.size(), 10U);
  for (const std::string& title : titles) EXPECT_EQ(titles.count(title), 1U) << title;
}

/// Returns the gnuplot script of an experiment's picture called `name`.
std::string script(const harness::Experiment& experiment, const std::string& name,
                   std::vector<harness::AxisOverride> overrides = {}) {
  const fs::path folder =
      fs::temp_directory_path() / ("howard pictures " + std::to_string(::getpid()));
  harness::ExperimentResult result{.experiment = std::string(experiment.name()),
                                   .points = run_emulated(experiment, std::move(overrides))};
  reports::write_plots(result, experiment.presentation(), {folder});
  std::string text = read_file(folder / (name + ".gp"));
  fs::remove_all(folder);
  return text;
}

TEST(Pictures, TheEightLinesOfShapeSweepHaveEightStyles) {
  std::set<std::string> styles;
  std::size_t lines = 0;
  for (const std::string& line :
       split(script(*make_experiment("shape_sweep", built_in_box()), "shape_sweep"), '\n')) {
    const std::size_t begin = line.find("with linespoints ");
    if (begin == std::string::npos) continue;
    styles.insert(line.substr(begin, line.find(" title ") - begin));
    ++lines;
  }
  EXPECT_EQ(lines, 8U);
  EXPECT_EQ(styles.size(), 8U);
}

TEST(Pictures, TheTitleOfMatmulSweepSaysWhenItFinishes) {
  const auto sweep = make_experiment("matmul_sweep", built_in_box());
  const auto title = [&](std::vector<std::string> sync) {
    const std::string text =
        script(*sweep, "matmul_sweep", {{"shape", {"256x256x256"}}, {"sync", std::move(sync)}});
    const std::size_t begin = text.find("set label ");  // The title is a picture's first text.
    return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
  };
  EXPECT_NE(title({"each"}).find("a finish after each"), std::string::npos);
  EXPECT_NE(title({"end"}).find("one finish at the end"), std::string::npos);
  EXPECT_EQ(title({"each", "end"}).find("finish"), std::string::npos) << "the legend says it";
}

}  // namespace
}  // namespace howard::experiments
