// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/mesh_memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "harness/cli/outputs/memory_watch.h"
#include "harness/cli/terminal/terminal.h"
#include "reports/tables/markdown.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {
namespace {

/// The names of phases, and the most bytes of DRAM that are in use in each.
using PhasePeaks = std::vector<std::pair<std::string, std::int64_t>>;

/// Joins the phases that have one name: those of several batches.
PhasePeaks peaks_of(const profiler::MemoryUse& use) {
  PhasePeaks peaks;
  for (const profiler::MemoryPhase& phase : use.phases) {
    const std::int64_t peak = phase.dram.cumulative_peak.value();
    const auto found = std::ranges::find(peaks, phase.name, &PhasePeaks::value_type::first);
    if (found == peaks.end()) {
      peaks.emplace_back(phase.name, peak);
    } else {
      found->second = std::max(found->second, peak);
    }
  }
  return peaks;
}

std::string as_text(const PhasePeaks& peaks) {
  std::string text;
  for (const auto& [name, peak] : peaks) text += fmt::format("{}\t{}\n", name, peak);
  return text;
}

PhasePeaks parse_peaks(std::string_view text) {
  PhasePeaks peaks;
  for (const std::string& line : split(text, '\n')) {
    const std::vector<std::string> parts = split(line, '\t');
    if (parts.size() == 2) peaks.emplace_back(parts[0], parse_integer(parts[1]).value_or(0));
  }
  return peaks;
}

/// Returns a row for each device and a column for each phase, in the order in which they came.
reports::Table phases_of_devices(const std::vector<PhasePeaks>& devices) {
  std::vector<std::string> names;
  for (const PhasePeaks& peaks : devices) {
    for (const auto& [name, peak] : peaks) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  reports::Table table{
      .caption = "memory of each device in the first step: the most DRAM in use in each phase"};
  table.columns.push_back({.title = "device", .number = true, .room = harness::Room::key});
  for (const std::string& name : names) {
    table.columns.push_back({.title = name, .unit = "MB", .number = true});
  }
  table.columns.push_back(
      {.title = "peak", .unit = "MB", .number = true, .room = harness::Room::key});
  for (std::size_t device = 0; device < devices.size(); ++device) {
    reports::TableRow row;
    row.cells.push_back({std::to_string(device)});
    std::int64_t most = 0;
    const auto add = [&](std::int64_t bytes) {
      row.cells.push_back({fmt::format("{:.2f}", static_cast<double>(bytes) / 1e6)});
    };
    for (const std::string& name : names) {
      const PhasePeaks& peaks = devices[device];
      const auto found = std::ranges::find(peaks, name, &PhasePeaks::value_type::first);
      if (found == peaks.end()) {
        row.cells.emplace_back();
        continue;
      }
      most = std::max(most, found->second);
      add(found->second);
    }
    add(most);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

void report_mesh_memory(mesh::Communicator& ranks, const profiler::MemoryUse& use,
                        const TrainOptions& options) {
  // Ranks may be threads, and a machine draws no faster with more of them.
  static std::mutex one_at_a_time;
  {
    const std::scoped_lock lock(one_at_a_time);
    const std::string title = fmt::format("{}, device {}", kTrainName, ranks.rank());
    reports::Canvas canvas = options.canvas;
    canvas.folder = options.memory / fmt::format("device_{}", ranks.rank());
    write_memory(use, memory_tables(use, title), title, canvas);
  }
  const std::string own = as_text(peaks_of(use));
  if (ranks.rank() != 0) return ranks.send(0, std::as_bytes(std::span(own)));
  std::vector<PhasePeaks> devices{parse_peaks(own)};
  for (int rank = 1; rank < ranks.size(); ++rank) {
    const std::vector<std::byte> bytes = ranks.receive(rank);
    devices.push_back(
        parse_peaks(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
  }
  const reports::Table table = phases_of_devices(devices);
  fmt::print(stderr, "{}\n",
             reports::terminal_table(table, terminal_style(STDERR_FILENO, ColorMode::never)));
  write_file(options.memory / "memory.md", reports::markdown_table(table));
}

}  // namespace howard::cli
