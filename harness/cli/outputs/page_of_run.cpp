// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/outputs/page_of_run.h"

#include <algorithm>
#include <array>
#include <cstddef>
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

namespace {

/// Returns the points whose timelines a page has: those that were recorded for it, with their
/// memory, and the other emulated ones that an option has recorded.
std::vector<const TracedPoint*> points_of_page(const Session& session) {
  constexpr std::size_t kMostTimelines = 40;  // a page of more would be hundreds of megabytes
  std::vector<const TracedPoint*> points;
  for (const TracedPoint& point : session.shown()) points.push_back(&point);
  for (const TracedPoint& point : session.traced()) {
    const bool known = std::ranges::any_of(session.shown(), [&](const TracedPoint& other) {
      return other.experiment == point.experiment && other.name == point.name;
    });
    if (!known && point.backend == harness::Backend::emulated && points.size() < kMostTimelines) {
      points.push_back(&point);
    }
  }
  return points;
}

}  // namespace

bool write_page(const std::vector<Finished>& finished, const Session& session,
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
  for (const TracedPoint* const point : points_of_page(session)) {
    const profiler::EventRecorder& recorder = point->recorder.recorder();
    timelines.push_back(
        {.process = {.name = point->experiment + "/" + point->name,
                     .events = recorder.events(),
                     .losses = recorder.losses(),
                     .facts =
                         [point](std::uint64_t program) { return point->recorder.facts(program); }},
         .memory = point->memory.curve.empty() ? nullptr : &point->memory});
  }
  page.timelines = timelines;
  return outputs.add_file(file, reports::html_page(page));
}

}  // namespace howard::cli
