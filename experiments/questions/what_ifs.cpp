// SPDX-License-Identifier: Apache-2.0
#include "experiments/questions/what_ifs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/axes/axes.h"

namespace howard::experiments {

using harness::Parameters;
using harness::WhatIf;

WhatIf eth_dispatch(const Point& point) {
  return set_axis("ETH dispatch", point, kDispatch, chip::DispatchCoreType::eth,
                  "it is dispatched so already");
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

WhatIf pad_count(const Point& point, const TypedAxis<std::int64_t>& axis, std::int64_t unit) {
  return pad(fmt::format("pad {}", axis.name), axis.name, point[axis], axis.print, unit);
}

WhatIf core_grids(const Point& point, CoreGrid all, std::optional<MathFidelity> fidelity) {
  WhatIf change{.what = "another core grid", .candidates = {}, .reason = ""};
  for (const int columns : {all.columns, all.columns - 1, all.columns / 2}) {
    for (const int rows : {all.rows, all.rows - 1, all.rows / 2}) {
      if (columns < 1 || rows < 1 || point[kGrid] == CoreGrid{columns, rows}) continue;
      Parameters changes{kGrid.at(CoreGrid{columns, rows})};
      if (fidelity && !point[kFidelity]) changes.push_back(kFidelity.at(fidelity));
      change.candidates.push_back(std::move(changes));
    }
  }
  return change;
}

namespace {

/// Plans buffers once, if each call of a step allocated its result before.
WhatIf in_place_outputs(const Point& point) {
  const Engine engine = point[kEngine];
  const bool keeps = engine == Engine::static_step || engine == Engine::traced;
  const bool as_published = point.has(kVariant) && point[kVariant] == Variant::as_published;
  if (keeps && !as_published) {
    return {"in-place outputs", {}, "its buffers are planned once and updated in place already"};
  }
  Parameters changes;
  if (!keeps) changes.push_back(kEngine.at(Engine::static_step));
  if (as_published) changes.push_back(kVariant.at(Variant::corrected));
  return {"in-place outputs", {std::move(changes)}, {}};
}

}  // namespace

void add_training_axes(std::vector<harness::Axis>& axes, harness::Backend backend,
                       const std::vector<std::string>& dispatch) {
  if (backend == harness::Backend::host) {
    axes.push_back(kTrainingTypes.with({"bfloat16"}));
    return;
  }
  axes.push_back(kDispatch.with(dispatch));
  axes.push_back(kGrid.optional());
  axes.push_back(kConfig.optional());
  axes.push_back(kFused.optional());
  axes.push_back(
      kQueues
          .means("2: half batches side by side, each on half of the cores, gradients not "
                 "added; not set: 1")
          .optional());
}

std::vector<WhatIf> training_what_ifs(const DevBox& box, const Point& point) {
  const CoreGrid all = box.profiles().chip.compute_grid(point[kDispatch]);
  return {set_axis("trace", point, kEngine, Engine::traced, "it is a replay already"),
          in_place_outputs(point),
          set_axis("fusing", point, kFused, true, "its functions are fused already"),
          set_axis("two queues, at best", point, kQueues, 2, "it uses two already"),
          eth_dispatch(point),
          core_grids(point, all, std::nullopt)};
}

}  // namespace howard::experiments
