// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/page_of_run.h"

#include <array>
#include <string_view>
#include <system_error>

#include "experiments/checks/fidelity_tables.h"
#include "reports/page/page.h"

namespace howard::cli {

std::vector<std::string> files_beside(const std::filesystem::path& folder,
                                      const std::string& experiment) {
  constexpr std::array<std::string_view, 4> kEndings{".json", ".csv", ".md", ".png"};
  std::vector<std::string> files;
  for (const std::string_view ending : kEndings) {
    std::error_code ignored;
    std::string name = experiment + std::string(ending);
    if (std::filesystem::exists(folder / name, ignored)) files.push_back(std::move(name));
  }
  return files;
}

std::vector<reports::Table> more_tables(const std::string& experiment,
                                        const chip::ProfileChoice& profiles) {
  if (experiment != "fidelity") return {};
  return experiments::fidelity_tables(chip::load_constants(profiles));
}

bool write_page(const std::vector<Finished>& finished, const std::deque<TracedPoint>& points,
                const RunOptions& options, Outputs& outputs) {
  reports::Page page;
  for (const Finished& one : finished) {
    page.sections.push_back({.result = one.result,
                             .presentation = one.presentation,
                             .question = std::string(one.question),
                             .files = files_beside(options.outputs.results, one.result.experiment),
                             .tables = one.tables,
                             .more = more_tables(one.result.experiment, options.profiles)});
  }
  std::vector<reports::TimelinePoint> timelines;
  for (const TracedPoint& point : points) {
    const profiler::EventRecorder& recorder = point.recorder.recorder();
    timelines.push_back(
        {.process = {.name = point.experiment + "/" + point.name,
                     .events = recorder.events(),
                     .losses = recorder.losses(),
                     .facts = [&](std::uint64_t program) { return point.recorder.facts(program); }},
         .memory = point.memory.curve.empty() ? nullptr : &point.memory});
  }
  page.timelines = timelines;
  return outputs.add_file(options.outputs.results / "index.html", reports::html_page(page));
}

}  // namespace howard::cli
