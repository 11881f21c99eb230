// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "harness/result.h"

namespace howard::reports {

/// Writes the results as JSON of schema "howard.result/1" (reports/formats/result.schema.json): an
/// object for one experiment, an array for any other number. Equal results give equal bytes.
/// Numbers are written so that they read back the same.
std::string result_json(std::span<const harness::ExperimentResult> results);

/// Does the same and hands the text over point by point, because the text of a large sweep is
/// larger than the sweep.
void write_result_json(std::span<const harness::ExperimentResult> results, const TextSink& sink);

/// Does the same for `finished` and, behind them, for one that is `running`, with the `points` that
/// it has so far. The points in `running` itself are not used.
void write_result_json(std::span<const harness::ExperimentResult> finished,
                       const harness::ExperimentResult& running,
                       std::vector<const harness::PointResult*> points, const TextSink& sink);

/// Reads the results from such a text, without loss. `source` names it in messages. Throws Error,
/// with the place and what is there, if it is not JSON, is of another schema, or breaks the
/// schema's rules.
std::vector<harness::ExperimentResult> parse_result_json(std::string_view text,
                                                         std::string_view source);

}  // namespace howard::reports
