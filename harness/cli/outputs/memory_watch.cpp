// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/outputs/memory_watch.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "harness/cli/command/program.h"
#include "reports/findings/memory_report.h"
#include "reports/tables/markdown.h"

namespace howard::cli {

std::vector<reports::Table> memory_tables(const profiler::MemoryUse& use,
                                          const std::string& title) {
  constexpr std::size_t kMostHolders = 10;
  std::vector<reports::Table> tables{reports::memory_phases_table(use),
                                     reports::memory_holders_table(use, kMostHolders)};
  for (reports::Table& table : tables) table.caption += ": " + title;
  return tables;
}

void write_memory(const profiler::MemoryUse& use, const std::vector<reports::Table>& tables,
                  const std::string& title, const reports::Canvas& canvas) {
  const std::filesystem::path& folder = canvas.folder;
  std::string text;
  for (const reports::Table& table : tables) {
    text += (text.empty() ? "" : "\n") + reports::markdown_table(table);
  }
  require_writable_folder(folder);
  write_file(folder / "memory.md", text);
  write_file(folder / "buffers.csv", reports::buffers_csv(use));
  const reports::PlotFiles plots =
      reports::write_memory_plot(use, "device", "Memory in use: " + title, canvas);
  if (!plots.not_rendered.empty()) {
    complain("no pictures: {}", plots.not_rendered);
  }
  if (!plots.failures.empty()) throw std::runtime_error(join(plots.failures, "; "));
}

profiler::MemoryUse MemoryWatch::record(const harness::Experiment& experiment,
                                        const harness::PointResult& point, EventSink* trace) {
  profiler::MemoryRecorder& recorder = point.backend == harness::Backend::emulated ? chip_ : host_;
  // The recorder is closed before the case is destroyed, so that buffers that live at the end of an
  // iteration are still seen to live.
  const auto close = [&](void*) { recorder.close(); };
  recorder.open("set-up");
  const std::unique_ptr<void, decltype(close)> closed(&recorder, close);
  auto prepared = experiment.prepare(point.backend, point.parameters);
  if (auto* const reason = std::get_if<harness::NotApplicable>(&prepared)) {
    throw Error({.attempted = "record the memory of " + point.id(),
                 .value = reason->reason,
                 .accepted = "a point that runs"});
  }
  const auto runs = std::get<std::unique_ptr<harness::Case>>(std::move(prepared));
  if (trace != nullptr) {
    for (int i = 0; i < experiment.timing().warmup; ++i) runs->run();
    // The chip may be many iterations behind the host, and these do not belong into the trace.
    runs->finish();
  }
  recorder.begin_phase("run");
  runs->set_trace_sink(trace);
  runs->run();
  if (experiment.timing().iterations > 0) runs->finish();
  recorder.close();
  return recorder.use();
}

}  // namespace howard::cli
