// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/fit/fit_search.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engines/training/recipe_model.h"

namespace howard::cli {
namespace {

/// Returns the divisors of `count` up to `most`, rising.
std::vector<std::int64_t> divisors(std::int64_t count, std::int64_t most) {
  std::vector<std::int64_t> found;
  for (std::int64_t i = 1; i <= std::min(count, most); ++i) {
    if (count % i == 0) found.push_back(i);
  }
  return found;
}

/// More of a chip's sequences at once than this are never faster than what fits.
constexpr std::int64_t kMostAtOnce = 256;

/// Searches the settings of one mesh and runner: larger batches until one does not fit.
void search_runner(const RunSetting& setting, const wormhole::Profiles& profiles,
                   std::vector<RunPlan>& plans) {
  const training::Recipe& recipe = setting.recipe;
  const std::int64_t sequences = recipe.batch * recipe.accumulate;
  for (const std::int64_t batch : divisors(sequences / setting.ddp, kMostAtOnce)) {
    const std::int64_t batches = sequences / setting.ddp / batch;
    if (batches > std::numeric_limits<int>::max()) continue;
    RunSetting tried = setting;
    tried.recipe.batch = batch * setting.ddp;
    tried.recipe.accumulate = static_cast<int>(batches);
    plans.push_back(plan_run(tried, profiles));
    if (!plans.back().fits()) return;
  }
}

/// Says whether the mesh divides what it shares: sequences, heads, groups and tiles of weights.
bool can_be(const RunSetting& setting) {
  const training::Recipe& recipe = setting.recipe;
  if (recipe.batch * recipe.accumulate % setting.ddp != 0) return false;
  if (setting.tp == 1) return true;
  const std::int64_t tile = kTileSide * setting.tp;
  const bool divides = !recipe.tied && recipe.heads % setting.tp == 0 && recipe.width % tile == 0 &&
                       setting.vocabulary % tile == 0;
  if (!divides || recipe.model != training::ModelKind::llama) return divides;
  const std::int64_t wide =
      recipe.feed_forward > 0 ? recipe.feed_forward : models::feed_forward_of(recipe.width);
  return recipe.groups % setting.tp == 0 && wide % tile == 0;
}

/// Says whether `a` comes before `b`: a plan that fits is better than one that does not; then the
/// faster one is, or the one that needs less.
bool is_better(const RunPlan& a, const RunPlan& b) {
  if (a.fits() != b.fits()) return a.fits();
  if (a.clash.empty() != b.clash.empty()) return a.clash.empty();
  return a.fits() ? a.step < b.step : a.peak < b.peak;
}

}  // namespace

std::vector<RunPlan> search_settings(const RunSetting& setting,
                                     const wormhole::Profiles& profiles) {
  std::vector<RunPlan> best;
  for (const std::int64_t chips : {1, 2, 4, 8, 32}) {
    std::vector<RunPlan> plans;
    for (const std::int64_t tp : divisors(chips, chips)) {
      RunSetting tried = setting;
      tried.tp = static_cast<int>(tp);
      tried.ddp = chips / tp;
      if (!can_be(tried)) continue;
      for (const bool memory_efficient : {false, true}) {
        tried.recipe.memory_efficient = memory_efficient;
        search_runner(tried, profiles, plans);
      }
    }
    std::ranges::stable_sort(plans, is_better);
    constexpr std::size_t kShown = 3;  // settings of a mesh
    for (std::size_t i = 0; i < std::min(plans.size(), kShown); ++i) {
      if (i == 0 || plans[i].fits()) best.push_back(std::move(plans[i]));
    }
  }
  std::ranges::stable_sort(best, is_better);
  return best;
}

}  // namespace howard::cli
