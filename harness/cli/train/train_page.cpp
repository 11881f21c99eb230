// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/train_page.h"

#include "base/file.h"
#include "reports/findings/memory_report.h"
#include "reports/page/page.h"

namespace howard::cli {

harness::Presentation training_presentation() {
  using harness::CellSource;
  return {.timed = "a training step",
          .columns = {{"engine", CellSource::parameter, "engine"},
                      {"steps done", CellSource::detail, "steps_done"},
                      {"loss", CellSource::metric, "loss"},
                      {"time", CellSource::metric, "time"},
                      {"tokens/s", CellSource::metric, "tokens"},
                      {"memory", CellSource::metric, "memory"},
                      {"data", CellSource::detail, "data"}},
          .plots = {},
          .bar_charts = {},
          .heat_maps = {},
          .table_of = {},
          .swept = {}};
}

void write_training_page(const harness::ExperimentResult& result,
                         const std::optional<profiler::MemoryUse>& memory,
                         const std::filesystem::path& file) {
  constexpr std::size_t kMostHolders = 10;
  reports::Page page;
  reports::PageSection& section = page.sections.emplace_back();
  section.result = result;
  section.presentation = training_presentation();
  section.files = {result.experiment + ".json"};
  if (memory) {
    section.memory = &*memory;
    section.more = {reports::memory_phases_table(*memory),
                    reports::memory_holders_table(*memory, kMostHolders)};
  }
  write_file(file, reports::html_page(page));
}

}  // namespace howard::cli
