// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "experiments/training_plan/run_plan.h"

namespace howard::experiments {

/// Plans runs of one model in TTML's tiers, whose ranks work one after the other: all workers, the
/// aggregator and the optimizer. Transfers between a chip and its host take time, as the chip says,
/// and so do messages between hosts (host.message); with fabric sockets, a link is between the
/// chips of two ranks.
class TierPlanner {
 public:
  /// Emulates the ranks that compute no gradients. Throws Error when a kernel does not fit.
  TierPlanner(const RunSetting& setting, chip::Profiles profiles);
  ~TierPlanner();

  /// Emulates a worker of `setting` and returns the plan of each of `tiers`. Throws Error as above.
  std::vector<RunPlan> plans(const RunSetting& setting,
                             std::span<const training::MeshPlan> tiers) const;

 private:
  struct Handing;
  RunPlan joined(const training::MeshPlan& tiers, SimTime passes, Bytes worker_peak) const;

  chip::Profiles profiles_;
  std::unique_ptr<Handing> handing_;
};

}  // namespace howard::experiments
