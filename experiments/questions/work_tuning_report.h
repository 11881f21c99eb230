// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "experiments/questions/work_tuning.h"
#include "harness/result.h"
#include "reports/tables/table.h"

namespace howard::experiments {

/// Returns "4.596 ms now, 3.91 ms with the configurations below: 1.18x".
std::string answer_text(const WorkTuning& tuning);
/// Returns how many calls are left out, and why.
std::string left_out_text(const WorkTuning& tuning);

/// Returns "linear 32x4096x14336 B' bias relu", with the sizes of a product as m, k and n, or the
/// shape of the first operand.
std::string call_text(const TunedCall& call);
/// Returns the best arguments in a line: a configuration as the axis config has it, or
/// "q_chunk_size=128 k_chunk_size=256".
std::string arguments_text(const ArgumentsInPlace& arguments);

/// Returns a table of the calls and one of their best arguments. `what` names the work.
std::vector<reports::Table> work_tuning_tables(const WorkTuning& tuning, const std::string& what);

/// Returns a point for each call that is kept.
harness::ExperimentResult work_tuning_result(const WorkTuning& tuning,
                                             const harness::RunContext& context);

// These are the forms in which others take the best arguments.

/// Returns JSON of the schema howard.tuned/1. Products of matrices have the fields of the keys, and
/// the recipes, of tt-metal's registry of matmul configurations.
std::string work_tuning_json(const WorkTuning& tuning, const std::string& what,
                             const harness::RunContext& context);
/// Returns a module for ttnn: dictionaries of configurations, a linear(), a matmul() and a
/// scaled_dot_product_attention() that look theirs up, and what else was found as comments.
std::string work_tuning_python(const WorkTuning& tuning, const std::string& what);
/// Returns the attributes of tt-mlir's TTNN dialect, each below a line that says for which calls.
std::string work_tuning_mlir(const WorkTuning& tuning, const std::string& what);

}  // namespace howard::experiments
