// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/ttml_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace howard::reports {
namespace {

double ttml_megabytes(Bytes size) { return static_cast<double>(size.value()) / (1 << 20); }

/// Returns TTML's name of a phase, or the phase's own in capitals.
std::string ttml_phase(const std::string& phase) {
  static const std::map<std::string, std::string> kNames{{"model", "MODEL_CREATION"},
                                                         {"optimizer", "OPTIMIZER_CREATION"},
                                                         {"forward", "FORWARD_PASS"},
                                                         {"backward", "BACKWARD_PASS"},
                                                         {"step", "FIRST_ITERATION_COMPLETE"}};
  if (const auto found = kNames.find(phase); found != kNames.end()) return found->second;
  std::string name = phase;
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c == ' ' ? '_' : c;
  });
  return name;
}

}  // namespace

std::string ttml_memory_summary(const profiler::MemoryUse& use) {
  std::string text = "=== Memory Usage Summary ===\n";
  for (const profiler::MemoryPhase& phase : use.phases) {
    const auto& dram = phase.dram;
    const auto& l1 = phase.l1;
    text += fmt::format(
        "\n--- {} ---\n"
        "  DRAM: Segment Peak {:.2f} MB, Allocations {:.2f} MB, Deallocations {:.2f} MB, Segment "
        "Change {:+.2f} MB\n"
        "  DRAM: Cumulative Peak {:.2f} MB, Cumulative Current {:.2f} MB\n"
        "  L1: Peak CB {:.2f} MB, Peak Buffer {:.2f} MB, Peak Total {:.2f} MB\n",
        ttml_phase(phase.name), ttml_megabytes(dram.peak), ttml_megabytes(dram.allocated),
        ttml_megabytes(dram.released), ttml_megabytes(dram.change()),
        ttml_megabytes(dram.cumulative_peak), ttml_megabytes(dram.cumulative_current),
        ttml_megabytes(l1.circular_buffers_peak), ttml_megabytes(l1.buffers_peak),
        ttml_megabytes(l1.total_peak));
  }
  const double last =
      use.phases.empty() ? 0 : ttml_megabytes(use.phases.back().dram.cumulative_current);
  return text + fmt::format(
                    "=== Final Totals ===\n"
                    "Overall DRAM Peak: {:.2f} MB, Final DRAM Usage: {:.2f} MB\n",
                    ttml_megabytes(use.dram_peak().dram), last);
}

}  // namespace howard::reports
