// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/train_results.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "experiments/laboratory/presentations.h"
#include "harness/cli/terminal/terminal.h"
#include "reports/findings/memory_report.h"
#include "reports/formats/result_json.h"
#include "reports/page/page.h"
#include "reports/page/training_charts.h"
#include "reports/tables/table.h"

namespace howard::cli {
namespace {

/// Returns loss, learning rate and tokens per second at each step, and the memory of the first one.
std::string page_of(const harness::ExperimentResult& result,
                    const std::optional<profiler::MemoryUse>& memory) {
  constexpr std::size_t kMostHolders = 10;
  reports::Page page;
  reports::PageSection& section = page.sections.emplace_back();
  section.result = result;
  section.presentation = experiments::training_presentation();
  section.of_experiment = false;
  section.files = {result.experiment + ".json"};
  if (memory) {
    section.memory = &*memory;
    section.more = {reports::memory_phases_table(*memory),
                    reports::memory_holders_table(*memory, kMostHolders)};
  }
  return reports::html_page(page);
}

reports::PlotFiles draw(const harness::ExperimentResult& result, const reports::Canvas& canvas) {
  reports::PlotFiles files;
  int number = 0;
  for (reports::XyChart& chart : reports::training_charts(result)) {
    chart.name = fmt::format("{}_{}", result.experiment, ++number);
    files.add(reports::write_xy_chart(chart, canvas));
  }
  return files;
}

}  // namespace

void write_training_results(const TrainOptions& options, const harness::ExperimentResult& result,
                            const std::optional<profiler::MemoryUse>& memory,
                            const std::string& metrics) {
  std::vector<std::filesystem::path> written;
  const auto write = [&](const std::filesystem::path& file, const std::string& text) {
    write_file(file, text);
    written.push_back(file);
  };
  if (!options.results.empty()) {
    write(options.results / kTrainResult, reports::result_json(std::span(&result, 1)));
    write(options.results / "metrics.json", metrics);
  }
  if (const auto page = options.page_file(); !page.empty()) write(page, page_of(result, memory));
  const bool well = options.outputs.write(
      {.results = std::span(&result, 1),
       .tables = reports::make_tables(result, experiments::training_presentation()),
       .draw = [&](const reports::Canvas& canvas) { return draw(result, canvas); }},
      options.canvas, terminal_style(STDOUT_FILENO, ColorMode::automatic), written);
  say_written(written);
  if (well) return;
  throw Error({.attempted = "write the results of the training",
               .value = "a file of -o is missing, as said above",
               .accepted = "places that take files"});
}

std::FILE* lines_of(const TrainOptions& options) {
  return options.outputs.use_standard_output() ? stderr : stdout;
}

}  // namespace howard::cli
