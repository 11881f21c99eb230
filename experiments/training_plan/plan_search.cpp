// SPDX-License-Identifier: Apache-2.0
#include "experiments/training_plan/plan_search.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include "base/error.h"
#include "engines/models/llama.h"
#include "experiments/training_plan/pipeline_plan.h"
#include "experiments/training_plan/tier_plan.h"

namespace howard::experiments {
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

/// Returns the settings that make the same update as `setting` shared by `plan`, in batches of
/// rising sizes.
std::vector<RunSetting> batches_of(const RunSetting& setting, const training::MeshPlan& plan,
                                   std::int64_t sequences) {
  const std::int64_t groups = plan.workers > 0 ? plan.workers : plan.batch_shares();
  std::vector<RunSetting> settings;
  if (sequences % groups != 0) return settings;
  for (const std::int64_t batch : divisors(sequences / groups, kMostAtOnce)) {
    const std::int64_t batches = sequences / groups / batch;
    if (batches > std::numeric_limits<int>::max()) continue;
    RunSetting tried = setting;
    tried.plan = plan;
    tried.recipe.model.batch = batch * plan.batch_shares();
    tried.recipe.accumulate = static_cast<int>(batches);
    settings.push_back(std::move(tried));
  }
  return settings;
}

/// Adds the plans of one way to share with one runner: larger batches until one does not fit.
/// Returns whether any fits.
bool search_runner(const std::vector<RunSetting>& settings, const chip::Profiles& profiles,
                   bool memory_efficient, const BeforePlan& before_plan,
                   std::vector<RunPlan>& plans) {
  bool found = false;
  for (RunSetting tried : settings) {
    if (before_plan) before_plan();
    tried.recipe.model.memory_efficient = memory_efficient;
    std::vector<RunPlan> more;
    if (tried.plan.stages() > 1) {
      // GPipe takes about the time of 1F1B and never less memory.
      constexpr std::array kSearched{mesh::PipelineSchedule::sequential,
                                     mesh::PipelineSchedule::one_forward_one_back};
      // One micro-batch has one order.
      more = plan_pipeline(tried, profiles,
                           std::span(kSearched).first(tried.recipe.accumulate == 1 ? 1 : 2));
    } else {
      more.push_back(plan_run(tried, profiles));
    }
    const bool fits = std::ranges::any_of(more, &RunPlan::fits);
    std::ranges::move(more, std::back_inserter(plans));
    if (!fits) break;
    found = true;
  }
  return found;
}

/// Says whether chips can divide what they share: heads, groups and tiles of weights among `tp`,
/// and blocks among stages. Gradients that are clipped stay with chips that have all of them.
bool can_share(const RunSetting& setting, const training::MeshPlan& plan) {
  const training::Recipe& recipe = setting.recipe;
  const bool is_llama = recipe.model.kind == training::ModelKind::llama;
  if (recipe.model.kind == training::ModelKind::deepseek)
    return plan.devices() == 1 && plan.stages() == 1;
  const bool stays_whole = recipe.examples || recipe.model.lora.rank > 0;
  if (stays_whole && (plan.tp > 1 || plan.stages() > 1)) return false;
  if (plan.stages() > 1 && (!is_llama || recipe.model.tied || recipe.optimizer.clip > 0))
    return false;
  if (plan.fsdp > 1) return recipe.optimizer.clip == 0 && !is_muon(recipe.optimizer.kind);
  if (plan.tp == 1) return true;
  if (recipe.model.kind == training::ModelKind::qwen3) return false;
  const std::int64_t tile = kTileSide * plan.tp;
  return recipe.optimizer.clip == 0 && recipe.model.width % tile == 0 &&
         (!is_llama || models::feed_forward_of(recipe.model) % tile == 0) &&
         !sharing_obstacle(recipe.model, plan);
}

/// Returns the ways in which so many chips can share a run, without tiers.
std::vector<training::MeshPlan> ways_to_share(const RunSetting& setting, int chips) {
  std::vector<training::MeshPlan> ways;
  for (const std::int64_t tp : divisors(chips, chips)) {
    for (const std::int64_t stages : divisors(chips / tp, setting.recipe.model.layers)) {
      training::MeshPlan plan{.ddp = static_cast<int>(chips / tp / stages),
                              .tp = static_cast<int>(tp)};
      if (stages > 1)
        plan.blocks = training::even_blocks(setting.recipe.model.layers, static_cast<int>(stages));
      if (can_share(setting, plan)) ways.push_back(std::move(plan));
    }
  }
  const training::MeshPlan divided{.fsdp = chips, .lazy = true};
  if (chips > 1 && can_share(setting, divided)) ways.push_back(divided);
  return ways;
}

/// Says whether `a` comes before `b`: a plan that fits is better than one that does not; then the
/// faster one is, or the one that needs less.
bool is_better(const RunPlan& a, const RunPlan& b) {
  if (a.fits() != b.fits()) return a.fits();
  if (a.clash.empty() != b.clash.empty()) return a.clash.empty();
  return a.fits() ? a.step.time < b.step.time : a.peak < b.peak;
}

/// Names the kinds of ways to share of which the table shows the best: by a mesh alone, by stages
/// in TTML's order, by stages in 1F1B's, and by stages with interleaved chunks.
int kind_of(const RunPlan& plan) {
  const training::MeshPlan& shared = plan.setting.plan;
  if (shared.stages() == 1) return 0;
  if (shared.schedule == mesh::PipelineSchedule::sequential) return 1;
  return shared.chunks == 1 ? 2 : 3;
}

/// Adds the best plan with stages in 1F1B's order, with its blocks in two interleaved chunks.
void interleave_best(const chip::Profiles& profiles, std::vector<RunPlan>& plans) {
  const auto found = std::ranges::find_if(plans, [](const RunPlan& plan) {
    const training::MeshPlan& shared = plan.setting.plan;
    return plan.fits() && kind_of(plan) == 2 && std::ranges::min(shared.blocks) >= 2 &&
           plan.setting.recipe.accumulate % shared.stages() == 0;
  });
  if (found == plans.end()) return;
  RunSetting tried = found->setting;
  tried.plan.chunks = 2;
  plans.push_back(plan_run(tried, profiles));
}

/// Moves the best plans of so many chips to `best`: two of those without stages, and one of each
/// schedule with stages, if they fit; or the one that needs least.
void keep_best(const chip::Profiles& profiles, std::vector<RunPlan> plans,
               std::vector<RunPlan>& best) {
  std::ranges::stable_sort(plans, is_better);
  interleave_best(profiles, plans);
  std::ranges::stable_sort(plans, is_better);
  std::array<int, 4> room{2, 1, 1, 1};
  std::vector<training::MeshPlan> kept;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    int& left = room.at(static_cast<std::size_t>(kind_of(plans[i])));
    const training::MeshPlan& plan = plans[i].setting.plan;
    const bool is_new = std::ranges::find(kept, plan) == kept.end();
    if (left == 0 || !is_new || (i > 0 && !plans[i].fits())) continue;
    kept.push_back(plan);
    --left;
    best.push_back(std::move(plans[i]));
  }
}

/// Adds the fastest run in 2 and in 3 tiers that fits, if there is one.
void search_tiers(const RunSetting& setting, const chip::Profiles& profiles, std::int64_t sequences,
                  const BeforePlan& before_plan, std::vector<RunPlan>& best) {
  const training::Recipe& recipe = setting.recipe;
  if (recipe.optimizer.clip > 0 || recipe.schedule.schedule != autograd::Schedule::identity ||
      recipe.examples || recipe.model.lora.rank > 0 ||
      recipe.model.kind == training::ModelKind::deepseek) {
    return;  // as train
  }
  try {
    const TierPlanner planner(setting, profiles);
    std::vector<RunPlan> plans;
    for (const int workers : {2, 4, 8}) {
      const std::array<training::MeshPlan, 2> tiers{
          training::MeshPlan{.workers = workers},
          training::MeshPlan{.workers = workers, .three_tiers = true}};
      for (RunSetting tried : batches_of(setting, tiers[0], sequences)) {
        // Blocks run again where they must.
        for (const bool memory_efficient : {false, true}) {
          tried.recipe.model.memory_efficient = memory_efficient;
          if (before_plan) before_plan();
          std::ranges::move(planner.plans(tried, tiers), std::back_inserter(plans));
          if (plans.back().fits()) break;
        }
        if (!plans.back().fits()) break;
      }
    }
    std::ranges::stable_sort(plans, is_better);
    for (const bool three : {false, true}) {
      const auto found = std::ranges::find_if(plans, [&](const RunPlan& plan) {
        return plan.fits() && plan.setting.plan.three_tiers == three;
      });
      if (found != plans.end()) best.push_back(*found);
    }
  } catch (const Error&) {
    return;  // a kernel does not fit, which the run itself says
  }
}

}  // namespace

std::vector<RunPlan> search_settings(const RunSetting& setting, const chip::Profiles& profiles,
                                     const BeforePlan& before_plan) {
  const std::int64_t sequences = setting.sequences();
  std::vector<RunPlan> best;
  for (const int chips : {1, 2, 4, 8, 32}) {
    std::vector<RunPlan> plans;
    for (const training::MeshPlan& plan : ways_to_share(setting, chips)) {
      const auto settings = batches_of(setting, plan, sequences);
      const bool found = search_runner(settings, profiles, false, before_plan, plans);
      // Stages gain nothing from larger batches, for which blocks would be run again.
      if (plan.stages() == 1 || !found) search_runner(settings, profiles, true, before_plan, plans);
    }
    keep_best(profiles, std::move(plans), best);
  }
  search_tiers(setting, profiles, sequences, before_plan, best);
  std::ranges::stable_sort(best, is_better);
  return best;
}

const RunPlan* best_that_fits(const RunPlan& plan, const std::vector<RunPlan>& others) {
  const RunPlan* best = nullptr;
  for (const RunPlan& other : others) {
    if (!other.fits()) continue;
    if (other.setting.chips() <= plan.setting.chips()) return &other;
    if (best == nullptr || other.setting.chips() < best->setting.chips()) best = &other;
  }
  return best;
}

}  // namespace howard::experiments
