// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/questions/tuning.h"
#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/pictures/picture.h"
#include "reports/tables/table.h"

namespace howard::experiments {

/// Returns a table for each product: its default and its best configurations.
std::vector<reports::Table> tuning_tables(std::span<const Tuning> tunings);

/// Says how such a result is shown where only the result is left.
harness::Presentation tuning_presentation();

/// Returns a point for each configuration; its axis `rank` is "default", or its place.
harness::ExperimentResult tuning_result(std::span<const Tuning> tunings,
                                        const harness::RunContext& context);

/// Returns the fastest configuration as Python to paste: program_config, the compute_kernel_config
/// that keeps the numbers of ttnn's own choice, and the call.
std::string best_python(const Tuning& tuning);

/// Returns a Python module of all configurations: one list of dictionaries for each product.
std::string tuning_module(std::span<const Tuning> tunings);

/// Draws time against L1: every blocking of the fastest configuration's share of a core and of the
/// default's, with the default and the best ones marked. `name` is that of the files.
reports::PlotFiles write_tuning_plot(const Tuning& tuning, const std::string& name,
                                     const reports::Canvas& canvas);

}  // namespace howard::experiments
