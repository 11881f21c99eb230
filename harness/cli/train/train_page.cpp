// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/train_page.h"

#include "base/file.h"
#include "experiments/laboratory/presentations.h"
#include "reports/findings/memory_report.h"
#include "reports/page/page.h"

namespace howard::cli {

void write_training_page(const harness::ExperimentResult& result,
                         const std::optional<profiler::MemoryUse>& memory,
                         const std::filesystem::path& file) {
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
  write_file(file, reports::html_page(page));
}

}  // namespace howard::cli
