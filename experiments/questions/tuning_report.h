// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "experiments/questions/tuning.h"
#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/pictures/picture.h"
#include "reports/tables/table.h"

namespace howard::experiments {

/// Returns `text` with each line after the first `spaces` further to the right.
std::string indented(std::string text, std::size_t spaces);

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

/// Returns the fastest configurations as attributes of tt-mlir, one for each product.
std::string tuning_mlir(std::span<const Tuning> tunings);

/// Draws time against L1: every blocking of the fastest configuration's share of a core and of the
/// default's, with the default and the best ones marked. `name` is that of the files.
reports::PlotFiles write_tuning_plot(const Tuning& tuning, const std::string& name,
                                     const reports::Canvas& canvas);

}  // namespace howard::experiments
