// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "harness/result.h"

namespace howard::reports {

/// The results as JSON of schema "howard.result/1" (reports/formats/result.schema.json): an object
/// for one experiment, an array of them for any other number. Equal results give equal bytes;
/// numbers are written so that they read back the same.
std::string result_json(std::span<const harness::ExperimentResult> results);

/// The same, handed over point by point: that of a large sweep is larger than the sweep.
void write_result_json(std::span<const harness::ExperimentResult> results, const TextSink& sink);

/// The same of `finished` and behind them of one that is `running`, with the points that it has so
/// far; its own are not looked at.
void write_result_json(std::span<const harness::ExperimentResult> finished,
                       const harness::ExperimentResult& running,
                       std::vector<const harness::PointResult*> points, const TextSink& sink);

/// The results in such a text: what was written, without loss. `source` names it in messages.
/// Error, with the place and what stands there, when it is not JSON, of another schema, or breaks
/// the schema's rules.
std::vector<harness::ExperimentResult> parse_result_json(std::string_view text,
                                                         std::string_view source);

}  // namespace howard::reports
