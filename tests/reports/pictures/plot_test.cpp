// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/plot.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "reports/pictures/gnuplot.h"
#include "reports/pictures/plot_data.h"
#include "tests/error_of.h"
#include "tests/reports/sample_result.h"

namespace howard::reports {
namespace {

namespace fs = std::filesystem;

/// Gives each test a folder of its own, with a name that a shell must not take apart.
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
    return write_plots(testing::sample_result(), testing::sample_presentation(), {folder()});
  }
};

/// Sets PATH inside the block.
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

TEST_F(PlotTest, AnAxisOfTimesHasRoundMarksWithUnitsAndTwentyLinesNoLegend) {
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
  write_plots(result, presentation, {folder()});
  const std::string script = read_file(folder() / "e.gp");
  EXPECT_NE(script.find("set label 'published' at screen"), std::string::npos) << script;
  EXPECT_NE(script.find("set xtics ('1 us' 1e-06, '10 us' 1e-05, '100 us' 0.0001, '1 ms' 0.001, "
                        "'10 ms' 0.01, '100 ms' 0.1, '1 s' 1)"),
            std::string::npos)
      << script;
  EXPECT_EQ(script.find("set label '19'"), std::string::npos) << script;
}

/// Returns times of two tables beside published ones.
harness::ExperimentResult compared() {
  harness::ExperimentResult result{.experiment = "e"};
  for (const char* const table : {"a.1", "a.2"}) {
    harness::PointResult point{.details = {{"table", table}}};
    point.metrics = {{.name = "published_time", .value = 12e-6, .unit = "s"},
                     {.name = "time", .value = table[2] == '1' ? 11e-6 : 3e-3, .unit = "s"}};
    point.reference = {.metric = "time", .value = 12e-6, .unit = "s"};
    result.points.push_back(std::move(point));
  }
  harness::PointResult artefact = result.points.back();
  artefact.metrics[1].value = 20e-6;
  artefact.reference->status = "artefact";
  result.points.push_back(std::move(artefact));
  return result;
}

TEST_F(PlotTest, AComparisonHasTheLineOfEqualityABandAndTheSameRoundMarksOnBothAxes) {
  const ScopedPath path("");
  harness::Presentation presentation;
  presentation.plots = {{.title = "t",
                         .x_label = "published",
                         .y_label = "emulated",
                         .x = "published_time",
                         .y = "time",
                         .series = {"table"},
                         .compares = true}};
  write_plots(compared(), presentation, {folder()});
  const std::string script = read_file(folder() / "e.gp");
  for (const char* const text :
       {"  x with lines", "set label 'equal' at", "using 1:(0.9*$1):(1.1*$1)",
        "set label 'within 10 %' at", "with points lc rgb '#0072B2'  pt 7 ps 1.2 notitle",
        "set label 'a.1' at", "set label 'a.2' at", "set xrange [9.99001e-06:0.003003]",
        "set yrange [9.99001e-06:0.003003]",
        "set xtics ('10 us' 1e-05, '30 us' 3e-05, '100 us' 0.0001",
        "set ytics ('10 us' 1e-05, '30 us' 3e-05, '100 us' 0.0001"}) {
    EXPECT_NE(script.find(text), std::string::npos) << text << "\n" << script;
  }
  EXPECT_NE(script.find("set label 'published: an artefact' at"), std::string::npos);
  EXPECT_NE(read_file(folder() / "e.dat").find("\n1.2e-05 ? ? ? 2e-05\n"), std::string::npos);
}

TEST_F(PlotTest, BuffersHaveMarksInKiBAndMiB) {
  const ScopedPath path("");
  harness::ExperimentResult result{.experiment = "e"};
  for (const double size : {65536, 1048576, 16777216}) {
    harness::PointResult point;
    point.metrics = {{.name = "x", .value = size, .unit = "B"},
                     {.name = "y", .value = size / 1e12, .unit = "s"}};
    result.points.push_back(std::move(point));
  }
  harness::Presentation presentation;
  presentation.plots = {{.title = "t", .x = "x", .y = "y"}};
  write_plots(result, presentation, {folder()});
  const std::string script = read_file(folder() / "e.gp");
  EXPECT_NE(script.find("set xtics ('64 KiB' 65536, '1 MiB' 1048576, '16 MiB' 16777216)"),
            std::string::npos)
      << script;
}

TEST_F(PlotTest, AnAxisOfValuesBeginsAndEndsAtAMark) {
  const ScopedPath path("");
  harness::ExperimentResult result{.experiment = "e"};
  for (const double y : {0.9, 37.0}) {
    harness::PointResult point;
    point.metrics = {{.name = "x", .value = y, .unit = "1"},
                     {.name = "y", .value = y, .unit = "s"}};
    result.points.push_back(std::move(point));
  }
  harness::Presentation presentation;
  presentation.plots = {{.title = "t", .x = "x", .y = "y"}};
  write_plots(result, presentation, {folder()});
  const std::string script = read_file(folder() / "e.gp");
  EXPECT_NE(script.find("set yrange [0.699301:40.04]"), std::string::npos) << script;
  EXPECT_NE(script.find("'40' 40)"), std::string::npos) << script;
}

TEST_F(PlotTest, WithoutGnuplotWritesDataAndScriptAndSaysWhatIsMissing) {
  write_file(folder() / "sample_sweep.png", "an older picture");
  write_file(folder() / "sample_sweep.pdf", "of a format that is not asked for now");
  const ScopedPath path("");
  const PlotFiles files = write_sample();
  EXPECT_EQ(names(files.written),
            (std::vector<std::string>{"sample_sweep.dat", "sample_sweep.gp"}));
  EXPECT_NE(files.not_rendered.find("apt-get install gnuplot-nox"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder() / "sample_sweep.png"));
  EXPECT_FALSE(fs::exists(folder() / "sample_sweep.pdf"));
}

/// Puts a gnuplot that is a shell script on PATH.
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
  write_file(folder() / "sample_sweep.png", "an older picture");
  const FakeGnuplot fake(folder(),
                         "echo half >/dev/fd/3\necho 'line 7: no such curve' >&2\nexit 3\n");
  const ScopedPath path(fake.folder());
  const PlotFiles files = write_sample();
  EXPECT_EQ(names(files.written),
            (std::vector<std::string>{"sample_sweep.dat", "sample_sweep.gp"}));
  EXPECT_EQ(files.not_rendered, "");
  ASSERT_EQ(files.failures.size(), 1U);
  EXPECT_EQ(
      files.failures[0],
      "cannot draw " + (folder() / "sample_sweep.png").string() +
          ": it ended with status 3: line 7: no such curve; try `gnuplot sample_sweep.gp` in " +
          folder().string());
  EXPECT_FALSE(fs::exists(folder() / "sample_sweep.png"))
      << "neither an old one nor half a new one";
}

TEST_F(PlotTest, AGnuplotThatDoesNotEndIsEnded) {
  const FakeGnuplot fake(folder(), "echo half >/dev/fd/3\nsleep 1000\n");
  const std::string message = error_of([&] {
    draw_with_gnuplot(fake.path(), folder(), "plot x", 1, std::chrono::milliseconds(100));
  });
  EXPECT_EQ(message, "cannot draw with gnuplot: it was still drawing after 0.1 s");
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
  fs::create_directories(folder() / "sample_sweep.svg/in the way");
  const PlotFiles files = write_sample();
  EXPECT_EQ(names(files.written),
            (std::vector<std::string>{"sample_sweep.dat", "sample_sweep.gp", "sample_sweep.png"}));
  ASSERT_EQ(files.failures.size(), 1U);
  EXPECT_NE(files.failures[0].find("sample_sweep.svg"), std::string::npos) << files.failures[0];
}

TEST_F(PlotTest, MorePointsThanCanBeToldApartAreNotDrawn) {
  harness::ExperimentResult many = testing::sample_result();
  many.points.resize(2001, many.points.front());
  const PlotFiles files = write_plots(many, testing::sample_presentation(), {folder()});
  EXPECT_TRUE(files.written.empty());
  EXPECT_NE(files.not_rendered.find("2001 points"), std::string::npos) << files.not_rendered;
}

TEST_F(PlotTest, DrawsPictures) {
  if (!find_gnuplot()) GTEST_SKIP() << "no gnuplot on PATH";
  const PlotFiles files = write_sample();
  EXPECT_EQ(files.not_rendered, "");
  EXPECT_EQ(files.failures, std::vector<std::string>{});
  EXPECT_EQ(names(files.written),
            (std::vector<std::string>{"sample_sweep.dat", "sample_sweep.gp", "sample_sweep.png",
                                      "sample_sweep.svg"}));
  EXPECT_TRUE(read_file(folder() / "sample_sweep.png").starts_with("\x89PNG"));
  const std::string svg = read_file(folder() / "sample_sweep.svg");
  for (const char* text : {"One matrix product", "throughput (GFLOPS)", "size", "128", "4096",
                           "emulated, worker", "emulated, eth", "host", "published", "</svg>"}) {
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  }
}

TEST_F(PlotTest, DrawsTheFormatsAndTheSizeThatAreAskedFor) {
  if (!find_gnuplot()) GTEST_SKIP() << "no gnuplot on PATH";
  const PlotFiles files = write_plots(testing::sample_result(), testing::sample_presentation(),
                                      {.folder = folder(),
                                       .size = PictureSize{.width = 480, .height = 384},
                                       .formats = {PictureFormat::pdf, PictureFormat::png}});
  EXPECT_EQ(files.not_rendered, "");
  EXPECT_EQ(names(files.written),
            (std::vector<std::string>{"sample_sweep.dat", "sample_sweep.gp", "sample_sweep.pdf",
                                      "sample_sweep.png"}));
  EXPECT_TRUE(read_file(folder() / "sample_sweep.pdf").starts_with("%PDF"));
  const std::string png = read_file(folder() / "sample_sweep.png");
  EXPECT_EQ(png.substr(16, 8), std::string("\0\0\x01\xe0\0\0\x01\x80", 8)) << "480, 384";
  const std::string script = read_file(folder() / "sample_sweep.gp");
  EXPECT_NE(script.find("pdfcairo size 5in,4in"), std::string::npos) << script;
}

harness::ExperimentResult steps_of(std::initializer_list<std::pair<const char*, double>> values,
                                   const char* unit) {
  harness::ExperimentResult result{.experiment = "e"};
  double x = 0;
  for (const auto& [name, value] : values) {
    harness::PointResult point{.parameters = {{"name", name}}};
    point.metrics = {{.name = "x", .value = ++x, .unit = "1"},
                     {.name = "y", .value = value, .unit = unit}};
    result.points.push_back(std::move(point));
  }
  return result;
}

TEST_F(PlotTest, SharesAreOnALinearAxisFromZeroAndQuotientsAreTimes) {
  harness::Presentation presentation;
  presentation.plots = {{.title = "t", .y_label = "y", .x = "x", .y = "y", .series = {"name"}}};
  write_plots(steps_of({{"a", 0.2}, {"a", 0.9}}, "1"), presentation, {folder()});
  std::string script = read_file(folder() / "e.gp");
  EXPECT_EQ(script.find("set logscale y"), std::string::npos) << script;
  EXPECT_NE(script.find("set yrange [0:94.5]"), std::string::npos) << script;
  presentation.plots.front().ratio = true;
  write_plots(steps_of({{"a", 0.2}, {"a", 5}}, "1"), presentation, {folder()});
  script = read_file(folder() / "e.gp");
  EXPECT_NE(script.find("'5' 5"), std::string::npos) << "not 500 %" << script;
}

TEST_F(PlotTest, ALineThatCoversAnotherIsDashedAndTheTitleSaysWhatAllHaveInCommon) {
  harness::Presentation presentation;
  presentation.plots = {{.title = "t", .x = "x", .y = "y", .series = {"name"}}};
  harness::ExperimentResult both = steps_of({{"a", 2}, {"a", 3}}, "s");
  const harness::ExperimentResult over = steps_of({{"b", 2}, {"b", 3}}, "s");
  both.points.insert(both.points.end(), over.points.begin(), over.points.end());
  const PlotData data = collect_plot_data(both, presentation.plots.front());
  ASSERT_EQ(data.series.size(), 2U);
  EXPECT_EQ(data.series[0].title, "a") << "not 'emulated, a'";
  EXPECT_EQ(data.title, "t, emulated");
  EXPECT_EQ(data.series[0].covered, 1U);
  EXPECT_EQ(data.series[1].dashes, 1U);
}

TEST_F(PlotTest, ALongTitleIsBrokenIntoLines) {
  const ScopedPath path("");
  harness::Presentation presentation = testing::sample_presentation();
  presentation.plots[0].title =
      "one two three four five six seven eight nine ten eleven twelve "
      "thirteen fourteen fifteen sixteen seventeen eighteen nineteen";
  write_plots(testing::sample_result(), presentation, {folder()});
  const std::string script = read_file(folder() / "sample_sweep.gp");
  EXPECT_NE(script.find("nineteen' at screen"), std::string::npos) << script;
  EXPECT_EQ(script.find(presentation.plots[0].title), std::string::npos) << script;
}

TEST_F(PlotTest, WritesTheNumbersOfEachLine) {
  const ScopedPath path("");
  write_sample();
  const std::string data = read_file(folder() / "sample_sweep.dat");
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
  const std::string script = read_file(folder() / "sample_sweep.gp");
  for (const char* line :
       {"#   gnuplot sample_sweep.gp\n", "data = 'sample_sweep.dat'\n", "set logscale x\n",
        "set xtics ('128' 128, '4096' 4096)\n", "set label 'throughput (GFLOPS)' at screen",
        "set output 'sample_sweep.png'\n", "set output 'sample_sweep.svg'\n"}) {
    EXPECT_NE(script.find(line), std::string::npos) << line;
  }
}

TEST_F(PlotTest, QuotesWhatTheExperimentCallsThings) {
  if (!find_gnuplot()) GTEST_SKIP() << "no gnuplot on PATH";
  harness::Presentation presentation = testing::sample_presentation();
  presentation.plots[0].title = "don't `date` \"x\" {y}_z^2\nset output";
  const PlotFiles files = write_plots(testing::sample_result(), presentation, {folder()});
  EXPECT_EQ(files.not_rendered, "");
  EXPECT_NE(read_file(folder() / "sample_sweep.svg").find("{y}_z^2 set output"), std::string::npos);
}

TEST_F(PlotTest, NumbersTheFurtherPlots) {
  const ScopedPath path("");
  harness::Presentation presentation = testing::sample_presentation();
  presentation.plots.push_back(presentation.plots[0]);
  const PlotFiles files = write_plots(testing::sample_result(), presentation, {folder()});
  EXPECT_EQ(names(files.written),
            (std::vector<std::string>{"sample_sweep.dat", "sample_sweep.gp", "sample_sweep_2.dat",
                                      "sample_sweep_2.gp"}));
}

TEST_F(PlotTest, WithoutPointsThereIsNothingToDraw) {
  harness::Presentation presentation = testing::sample_presentation();
  presentation.plots[0].y = "nothing";
  const PlotFiles files = write_plots(testing::sample_result(), presentation, {folder()});
  EXPECT_TRUE(files.written.empty());
  EXPECT_TRUE(fs::is_empty(folder()));
}

TEST_F(PlotTest, AFolderThatCannotBeMadeIsAFailureOfEachFile) {
  write_file(folder() / "file", "");
  const PlotFiles files = write_plots(testing::sample_result(), testing::sample_presentation(),
                                      {folder() / "file/plots"});
  EXPECT_TRUE(files.written.empty());
  EXPECT_EQ(files.failures.size(), 2U) << "of the data and of the script";
}

}  // namespace
}  // namespace howard::reports
