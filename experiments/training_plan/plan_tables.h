// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "experiments/training_plan/fit.h"
#include "experiments/training_plan/run_plan.h"
#include "reports/tables/table.h"

namespace howard::experiments {

/// Returns how chips share a run: "one chip", "DDP 2 x TP 4", "DDP 2 x PP 4 (1f1b)", or "4 workers
/// in 3 tiers".
std::string shared_text(const training::MeshPlan& plan);

/// Returns what `fit` says of the run that the files ask for, line by line.
std::string plan_text(const FitAnswer& answer);

/// Returns what each stage of a pipeline, or each rank of tiers, does and needs.
reports::Table parts_table(const RunPlan& plan);

/// Returns the other settings, one a row.
reports::Table settings_table(const std::vector<RunPlan>& plans);

/// Returns the options of `train` and `fit` that make a run like `plan`, beside files that name no
/// devices: "--with batch_size=8 ...".
std::string options_text(const RunPlan& plan);

}  // namespace howard::experiments
