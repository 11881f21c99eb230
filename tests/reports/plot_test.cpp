// SPDX-License-Identifier: Apache-2.0
#include "reports/plot.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "reports/gnuplot.h"
#include "reports/plot_data.h"
#include "tests/reports/sample_result.h"

namespace howard::reports {
namespace {

namespace fs = std::filesystem;

/// A folder of its own for each test, whose name no shell may take apart.
class PlotTest : public ::testing::Test {
 protected:
  PlotTest() { fs::create_directories(folder()); }
  ~PlotTest() override { fs::remove_all(folder()); }

  static fs::path folder() {
    return fs::temp_directory_path() /
           ("howard it's a $(test) " +
            std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
  }

  static PlotFiles write_sample() {
    return write_plots(testing::sample_result(), testing::sample_presentation(), folder());
  }
};

/// PATH as it is inside the block.
class ScopedPath {
 public:
  explicit ScopedPath(const std::string& path) : before_(std::getenv("PATH")) {
    ::setenv("PATH", path.c_str(), 1);
  }
  ~ScopedPath() { ::setenv("PATH", before_.c_str(), 1); }
  ScopedPath(const ScopedPath&) = delete;
  ScopedPath& operator=(const ScopedPath&) = delete;

 private:
  std::string before_;
};

std::vector<std::string> names(const std::vector<fs::path>& files) {
  std::vector<std::string> list;
  for (const fs::path& file : files) list.push_back(file.filename());
  return list;
}

TEST_F(PlotTest, AnAxisOfTimesHasItsUnitAndTwentyLinesNoLegend) {
  harness::ExperimentResult result{.experiment = "e"};
  for (int i = 0; i < 20; ++i) {
    harness::PointResult point{.parameters = {{"name", std::to_string(i)}}};
    const double x = i == 19 ? 0.51 : 1.23456e-6 * (i + 1);
    point.metrics = {{.name = "x", .value = x, .unit = "s"},
                     {.name = "y", .value = 1, .unit = "s"}};
    result.points.push_back(std::move(point));
  }
  harness::Presentation presentation;
  presentation.plots = {{.title = "t",
                         .x_label = "published",
                         .y_label = "y",
                         .x = "x",
                         .y = "y",
                         .series = {"name"}}};
  write_plots(result, presentation, folder());
  const std::string script = read_file(folder() / "e.gp");
  EXPECT_NE(script.find("set xlabel 'published (us)'"), std::string::npos) << script;
  EXPECT_NE(script.find("'23.5' 2.345664e-05"), std::string::npos) << script;
  EXPECT_NE(script.find("'510000' 0.51"), std::string::npos) << "whole, not 5.1e+05\n" << script;
  EXPECT_NE(script.find("unset key"), std::string::npos) << script;
}

TEST_F(PlotTest, WithoutGnuplotWritesDataAndScriptAndSaysWhatIsMissing) {
  write_file(folder() / "matmul_sweep.png", "an older picture");
  const ScopedPath path("");
  const PlotFiles files = write_sample();
  EXPECT_EQ(names(files.written),
            (std::vector<std::string>{"matmul_sweep.dat", "matmul_sweep.gp"}));
  EXPECT_NE(files.not_rendered.find("apt-get install gnuplot-nox"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder() / "matmul_sweep.png"));
}

/// A gnuplot that is a shell script.
class FakeGnuplot {
 public:
  FakeGnuplot(const fs::path& folder, const std::string& script) : path_(folder / "bin/gnuplot") {
    write_file(path_, "#!/bin/sh\n" + script);
    fs::permissions(path_, fs::perms::owner_all);
  }
  const fs::path& path() const { return path_; }
  std::string folder() const { return path_.parent_path().string() + ":/usr/bin:/bin"; }

 private:
  fs::path path_;
};

TEST_F(PlotTest, ABrokenGnuplotIsAFailureThatNamesThePicture) {
  write_file(folder() / "matmul_sweep.png", "an older picture");
  const FakeGnuplot fake(folder(),
                         "echo half >/dev/fd/3\necho 'line 7: no such curve' >&2\nexit 3\n");
  const ScopedPath path(fake.folder());
  const PlotFiles files = write_sample();
  EXPECT_EQ(names(files.written),
            (std::vector<std::string>{"matmul_sweep.dat", "matmul_sweep.gp"}));
  EXPECT_EQ(files.not_rendered, "");
  ASSERT_EQ(files.failures.size(), 1U);
  EXPECT_EQ(
      files.failures[0],
      "cannot draw " + (folder() / "matmul_sweep.png").string() +
          ": it ended with status 3: line 7: no such curve; try `gnuplot matmul_sweep.gp` in " +
          folder().string());
  EXPECT_FALSE(fs::exists(folder() / "matmul_sweep.png"))
      << "neither an old one nor half a new one";
}

TEST_F(PlotTest, AGnuplotThatDoesNotEndIsEnded) {
  const FakeGnuplot fake(folder(), "echo half >/dev/fd/3\nsleep 1000\n");
  try {
    draw_with_gnuplot(fake.path(), folder(), "plot x", 1, std::chrono::milliseconds(100));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot draw with gnuplot: it was still drawing after 0.1 s");
  }
}

TEST_F(PlotTest, AGnuplotThatReadsNothingBreaksNoPipe) {
  const FakeGnuplot fake(folder(), "echo picture >/dev/fd/3\n");
  const std::string long_script(10 << 20, '#');
  EXPECT_EQ(draw_with_gnuplot(fake.path(), folder(), long_script, 1),
            std::vector<std::string>{"picture\n"});
}

TEST_F(PlotTest, APictureThatFindsNoRoomIsAFailureAndNoFile) {
  if (!find_gnuplot()) GTEST_SKIP() << "no gnuplot on PATH";
  // A folder in the picture's place takes no file.
  fs::create_directories(folder() / "matmul_sweep.svg/in the way");
  const PlotFiles files = write_sample();
  EXPECT_EQ(names(files.written),
            (std::vector<std::string>{"matmul_sweep.dat", "matmul_sweep.gp", "matmul_sweep.png"}));
  ASSERT_EQ(files.failures.size(), 1U);
  EXPECT_NE(files.failures[0].find("matmul_sweep.svg"), std::string::npos) << files.failures[0];
}

TEST_F(PlotTest, MorePointsThanCanBeToldApartAreNotDrawn) {
  harness::ExperimentResult many = testing::sample_result();
  many.points.resize(2001, many.points.front());
  const PlotFiles files = write_plots(many, testing::sample_presentation(), folder());
  EXPECT_TRUE(files.written.empty());
  EXPECT_NE(files.not_rendered.find("2001 points"), std::string::npos) << files.not_rendered;
}

TEST_F(PlotTest, DrawsPictures) {
  if (!find_gnuplot()) GTEST_SKIP() << "no gnuplot on PATH";
  const PlotFiles files = write_sample();
  EXPECT_EQ(files.not_rendered, "");
  EXPECT_EQ(files.failures, std::vector<std::string>{});
  EXPECT_EQ(names(files.written),
            (std::vector<std::string>{"matmul_sweep.dat", "matmul_sweep.gp", "matmul_sweep.png",
                                      "matmul_sweep.svg"}));
  EXPECT_TRUE(read_file(folder() / "matmul_sweep.png").starts_with("\x89PNG"));
  const std::string svg = read_file(folder() / "matmul_sweep.svg");
  for (const char* text : {"One matrix product", "throughput (GFLOPS)", "size", "128", "4096",
                           "emulated, worker", "emulated, eth", "host", "published", "</svg>"}) {
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  }
}

TEST_F(PlotTest, WritesTheNumbersOfEachLine) {
  const ScopedPath path("");
  write_sample();
  const std::string data = read_file(folder() / "matmul_sweep.dat");
  EXPECT_EQ(data,
            "# One matrix product\n"
            "# columns: size | throughput (GFLOPS) | low and high end of its 95 % interval | "
            "published figure; ? is none\n"
            "\n"
            "# index 0: emulated, worker\n"
            "128 44.2 ? ? 47.275388426030176\n"
            "\n"
            "\n"
            "# index 1: emulated, eth\n"
            "4096 52600 ? ? 69537.89045091764\n"
            "\n"
            "\n"
            "# index 2: host\n"
            "128 40.3 38.1 41.5 ?\n");
}

TEST_F(PlotTest, TheScriptDrawsTheDataBesideIt) {
  const ScopedPath path("");
  write_sample();
  const std::string script = read_file(folder() / "matmul_sweep.gp");
  for (const char* line :
       {"#   gnuplot matmul_sweep.gp\n", "data = 'matmul_sweep.dat'\n", "set logscale x 2\n",
        "set xtics ('128' 128, '4096' 4096)\n", "set ylabel 'throughput (GFLOPS)'\n",
        "set output 'matmul_sweep.png'\n", "set output 'matmul_sweep.svg'\n"}) {
    EXPECT_NE(script.find(line), std::string::npos) << line;
  }
}

TEST_F(PlotTest, QuotesWhatTheExperimentCallsThings) {
  if (!find_gnuplot()) GTEST_SKIP() << "no gnuplot on PATH";
  harness::Presentation presentation = testing::sample_presentation();
  presentation.plots[0].title = "don't `date` \"x\" {y}_z^2\nset output";
  const PlotFiles files = write_plots(testing::sample_result(), presentation, folder());
  EXPECT_EQ(files.not_rendered, "");
  EXPECT_NE(read_file(folder() / "matmul_sweep.svg").find("{y}_z^2 set output"), std::string::npos);
}

TEST_F(PlotTest, NumbersTheFurtherPlots) {
  const ScopedPath path("");
  harness::Presentation presentation = testing::sample_presentation();
  presentation.plots.push_back(presentation.plots[0]);
  const PlotFiles files = write_plots(testing::sample_result(), presentation, folder());
  EXPECT_EQ(names(files.written),
            (std::vector<std::string>{"matmul_sweep.dat", "matmul_sweep.gp", "matmul_sweep_2.dat",
                                      "matmul_sweep_2.gp"}));
}

TEST_F(PlotTest, WithoutPointsThereIsNothingToDraw) {
  harness::Presentation presentation = testing::sample_presentation();
  presentation.plots[0].y = "nothing";
  const PlotFiles files = write_plots(testing::sample_result(), presentation, folder());
  EXPECT_TRUE(files.written.empty());
  EXPECT_TRUE(fs::is_empty(folder()));
}

TEST_F(PlotTest, AFolderThatCannotBeMadeIsAFailureOfEachFile) {
  write_file(folder() / "file", "");
  const PlotFiles files = write_plots(testing::sample_result(), testing::sample_presentation(),
                                      folder() / "file/plots");
  EXPECT_TRUE(files.written.empty());
  EXPECT_EQ(files.failures.size(), 2U) << "of the data and of the script";
}

harness::PointResult point(const std::string& shape, const std::string& dtype, double size,
                           double rate) {
  return {.parameters = {{"shape", shape}, {"dispatch", "worker"}, {"dtype", dtype}},
          .metrics = {{.name = "size", .value = size, .unit = "1"},
                      {.name = "throughput", .value = rate, .unit = "FLOP/s"}}};
}

std::vector<std::string> titles(const std::vector<harness::PointResult>& points) {
  const harness::ExperimentResult result{.experiment = "x", .points = points};
  std::vector<std::string> list;
  for (const PlotSeries& series :
       collect_plot_data(result, testing::sample_presentation().plots[0]).series) {
    list.push_back(series.title);
  }
  return list;
}

TEST(PlotData, NamesLinesByTheAxesThatDiffer) {
  EXPECT_EQ(titles({point("1x1x1", "bf16", 1, 1), point("2x2x2", "bf16", 2, 1)}),
            std::vector<std::string>{"emulated"});
}

TEST(PlotData, SaysWhatANumberIsOf) {
  EXPECT_EQ(titles({point("1x1x1", "7", 1, 1), point("1x1x1", "8", 1, 2)}),
            (std::vector<std::string>{"emulated, dtype 7", "emulated, dtype 8"}));
}

TEST(PlotData, SeparatesPointsThatWouldStandAboveEachOther) {
  EXPECT_EQ(titles({point("1x1x1", "bf16", 1, 1), point("1x1x1", "fp32", 1, 2)}),
            (std::vector<std::string>{"emulated, bf16", "emulated, fp32"}));
}

TEST(PlotData, SortsALineAndLeavesOutWhatALogarithmHasNoPlaceFor) {
  const harness::ExperimentResult result{
      .experiment = "x",
      .points = {point("4x4x4", "bf16", 4, 3), point("0x0x0", "bf16", 0, 1),
                 point("3x3x3", "bf16", 3, 0), point("2x2x2", "bf16", 2, 5)}};
  const PlotData data = collect_plot_data(result, testing::sample_presentation().plots[0]);
  ASSERT_EQ(data.series.size(), 1U);
  ASSERT_EQ(data.series[0].points.size(), 2U);
  EXPECT_EQ(data.series[0].points[0].x, 2);
  EXPECT_EQ(data.series[0].points[1].x, 4);
}

}  // namespace
}  // namespace howard::reports
