// SPDX-License-Identifier: Apache-2.0
#include "experiments/questions/what_ifs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/axes/axes.h"

namespace howard::experiments {

using harness::Axis;
using harness::find_parameter;
using harness::Parameters;
using harness::WhatIf;

WhatIf set_axis(std::string what, const Parameters& parameters, std::string_view axis,
                std::string_view value, std::string already) {
  WhatIf change{.what = std::move(what), .candidates = {}, .reason = ""};
  if (find_parameter(parameters, axis) == value) {
    change.reason = std::move(already);
  } else {
    change.candidates = {{{std::string(axis), std::string(value)}}};
  }
  return change;
}

WhatIf eth_dispatch(const Parameters& parameters) {
  return set_axis("ETH dispatch", parameters, "dispatch", "eth", "it is dispatched so already");
}

WhatIf pad(std::string what, std::string_view axis, std::int64_t size,
           const std::function<std::string(std::int64_t)>& with, std::int64_t unit) {
  WhatIf change{.what = std::move(what), .candidates = {}, .reason = ""};
  const std::int64_t units = ceil_div(size, unit);
  if (units * unit != size) change.candidates.push_back({{std::string(axis), with(units * unit)}});
  // Beyond an eighth more work a padded size has little left to win, and sixteen tiles reach the
  // next multiple of every core grid.
  constexpr std::int64_t kMost = 16;
  constexpr std::int64_t kPart = 8;
  const std::int64_t most = std::min(kMost, std::max<std::int64_t>(1, units / kPart));
  for (std::int64_t more = 1; more <= most; ++more) {
    change.candidates.push_back({{std::string(axis), with((units + more) * unit)}});
  }
  return change;
}

WhatIf pad_count(const Parameters& parameters, std::string_view axis, std::int64_t unit) {
  return pad(
      fmt::format("pad {}", axis), axis, count_of(parameters, axis),
      [](std::int64_t size) { return std::to_string(size); }, unit);
}

WhatIf core_grids(const Parameters& parameters, CoreGrid all, std::string_view fidelity) {
  WhatIf change{.what = "another core grid", .candidates = {}, .reason = ""};
  for (const int columns : {all.columns, all.columns - 1, all.columns / 2}) {
    for (const int rows : {all.rows, all.rows - 1, all.rows / 2}) {
      if (columns < 1 || rows < 1) continue;
      const std::string grid = fmt::format("{}x{}", columns, rows);
      if (find_parameter(parameters, "grid") == grid) continue;
      Parameters changes{{"grid", grid}};
      if (find_parameter(parameters, "fidelity") == "default") {
        changes.emplace_back("fidelity", fidelity);
      }
      change.candidates.push_back(std::move(changes));
    }
  }
  return change;
}

Axis trace_axis() {
  return harness::optional_axis(harness::word_axis(
      "trace", "yes: replays of a captured trace; not set: call by call", {"no", "yes"}, {}));
}

Axis queues_axis(std::string meaning) {
  return harness::optional_axis(harness::word_axis("queues", std::move(meaning), {"1", "2"}, {}));
}

namespace {

/// Plans buffers once, if each call of a step allocated its result before.
WhatIf in_place_outputs(const Parameters& parameters) {
  WhatIf change{.what = "in-place outputs", .candidates = {}, .reason = ""};
  const auto engine = find_parameter(parameters, "engine");
  const bool keeps = engine == "static" || engine == "traced";
  const auto variant = find_parameter(parameters, "variant");
  if (keeps && variant != "as_published") {
    change.reason = "its buffers are planned once and updated in place already";
    return change;
  }
  Parameters changes;
  if (!keeps) changes.emplace_back("engine", "static");
  if (variant == "as_published") changes.emplace_back("variant", "corrected");
  change.candidates.push_back(std::move(changes));
  return change;
}

}  // namespace

void add_training_axes(std::vector<Axis>& axes, harness::Backend backend,
                       const std::vector<std::string>& dispatch) {
  if (backend == harness::Backend::host) {
    axes.push_back(training_dtype_axis());
    return;
  }
  axes.push_back(dispatch_axis(dispatch));
  axes.push_back(harness::optional_axis(grid_axis()));
  axes.push_back(config_axis());
  axes.push_back(harness::optional_axis(harness::word_axis(
      "fused", "yes: TTML's functions, which do more in one program; not set: no", {"no", "yes"},
      {})));
  axes.push_back(
      queues_axis("2: half batches side by side, each on half of the cores, gradients not added; "
                  "not set: 1"));
}

std::vector<WhatIf> training_what_ifs(const DevBox& box, const Parameters& parameters) {
  const CoreGrid all =
      box.profiles().chip.compute_grid(parse_dispatch(*find_parameter(parameters, "dispatch")));
  return {set_axis("trace", parameters, "engine", "traced", "it is a replay already"),
          in_place_outputs(parameters),
          set_axis("fusing", parameters, "fused", "yes", "its functions are fused already"),
          set_axis("two queues, at best", parameters, "queues", "2", "it uses two already"),
          eth_dispatch(parameters),
          core_grids(parameters, all, "")};
}

}  // namespace howard::experiments
