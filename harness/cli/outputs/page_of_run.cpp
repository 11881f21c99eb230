// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/outputs/page_of_run.h"

#include <array>
#include <string_view>
#include <system_error>

#include "experiments/laboratory/laboratory.h"
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

bool write_page(const std::vector<Finished>& finished, const std::deque<TracedPoint>& points,
                const RunOptions& options, const experiments::Laboratory& laboratory,
                Outputs& outputs) {
  const std::filesystem::path file(*options.page);
  reports::Page page;
  for (const Finished& one : finished) {
    page.sections.push_back({.result = one.result,
                             .presentation = one.presentation,
                             .question = std::string(one.question),
                             .files = files_beside(file.parent_path(), one.result.experiment),
                             .tables = one.tables,
                             .more = laboratory.page_tables(one.result.experiment)});
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
  return outputs.add_file(file, reports::html_page(page));
}

}  // namespace howard::cli
