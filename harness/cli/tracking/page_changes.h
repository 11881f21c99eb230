// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "harness/cli/tracking/baseline.h"
#include "harness/result.h"
#include "reports/page/page.h"

namespace howard::cli {

/// Puts on `page` what has changed in `results`, which are called `name`, since their baseline, and
/// with a database the history of their metrics on the baseline's branch. An empty `database` is
/// none. What cannot be read or compared is a problem of the page.
void add_changes(std::span<const harness::ExperimentResult> results, const std::string& name,
                 const BaselineOptions& baseline, const std::string& database, reports::Page& page);

}  // namespace howard::cli
