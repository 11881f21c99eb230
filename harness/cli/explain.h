// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace howard::cli {

/// `explain WHAT [OPTIONS]`, whose manual is explain_help.md; argv[0] is "explain". The exit
/// status. UsageError, or Error for a point that can not run.
int explain(int argc, const char* const* argv);

/// The experiment that a workload by its shapes is a point of: "matmul_sweep" for "matmul". Any
/// other name as it is.
std::string experiment_of_workload(const std::string& name);

}  // namespace howard::cli
