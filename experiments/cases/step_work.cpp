// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/step_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace howard::experiments {
namespace {

struct Total {
  int launches = 0;
  SimTime kernel;
  std::map<chip::Bottleneck, SimTime> by_bottleneck;
};

std::string op_list_of(std::span<const Program> programs) {
  std::vector<std::pair<std::string_view, int>> counts;
  for (const Program& program : programs) {
    auto found = std::ranges::find(counts, program.name, [](const auto& one) { return one.first; });
    if (found == counts.end()) found = counts.insert(found, {program.name, 0});
    ++found->second;
  }
  std::string text;
  for (const auto& [name, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  }
  return text;
}

}  // namespace

StepWork work_of(chip::EmulatedChip& chip, std::span<const Program> programs) {
  StepWork work{.calls = static_cast<int>(programs.size()), .op_list = op_list_of(programs)};
  std::map<std::string_view, Total> totals;
  SimTime slowest;
  for (const Program& program : programs) {
    for (const chip::PlannedProgram& planned : chip.launches(program)) {
      Total& total = totals[planned.name];
      ++total.launches;
      work.known.add(planned.kernel.total,
                     calibration::band_of(planned, chip.profiles().chip.architecture));
      total.kernel += planned.kernel.total;
      total.by_bottleneck[planned.kernel.bottleneck] += planned.kernel.total;
      if (!planned.matmul || planned.kernel.total <= slowest) continue;
      slowest = planned.kernel.total;
      work.slowest_product = planned.matmul->text();
    }
  }
  for (const auto& [name, total] : totals) {
    const auto longest = std::ranges::max_element(total.by_bottleneck, {},
                                                  [](const auto& entry) { return entry.second; });
    work.launches += total.launches;
    work.kernel += total.kernel;
    work.kinds.push_back({name, total.launches, total.kernel, longest->first});
  }
  std::ranges::stable_sort(work.kinds, std::greater(), &OpKindWork::kernel);
  return work;
}

std::string StepWork::text(std::size_t most) const {
  std::string result;
  for (std::size_t i = 0; i < std::min(most, kinds.size()); ++i) {
    const OpKindWork& kind = kinds[i];
    const double share = kind.kernel.seconds() / kernel.seconds();
    result += fmt::format("{}{} {:.0f} % ({}, {})", i == 0 ? "" : ", ", kind.name, 100 * share,
                          kind.launches, name_of(kind.bottleneck));
  }
  return result;
}

}  // namespace howard::experiments
