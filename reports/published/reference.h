// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result.h"

namespace howard::reports {

struct ReferenceRow {
  harness::Parameters parameters;  ///< The common ones of the table, then the row's own.
  /// The axes that do not concern the row: the file says "any".
  std::vector<std::string> any = {};
  double value = 0;    ///< The value in the table's unit.
  std::string status;  ///< "calibration", "prediction" or "artefact".
  std::string note;
};

/// Holds one published table of the report or of tt-metal, as data. Its file says besides how it
/// was measured ("timing") and by which program ("true_source", often not the one that it names).
struct ReferenceTable {
  std::string title;
  std::string source;  ///< The place where it was published.
  std::string metric;
  std::string unit;  ///< "s", "FLOP/s", "1" for ratios, "count", or "" for what ops compute.
  /// The built-in profiles of the chips that were measured, and that of the software; none if they
  /// are the defaults.
  std::vector<std::string> chips;
  std::string software;
  std::vector<ReferenceRow> rows;
};

/// Reads a file of schema "howard.reference/1". Throws Error, with the place in the file, if it
/// is not JSON, is of another schema, or has a missing key, an unknown status or a unit that is not
/// SI.
std::vector<ReferenceTable> parse_reference_tables(std::string_view file, std::string_view text);

/// Returns the published tables of an experiment on the default chip, from the files compiled into
/// this library; none if nothing was published.
std::vector<ReferenceTable> reference_tables(std::string_view experiment);

/// Returns those of the chip and the software of a run; none if one of their constants was changed.
/// The tables of the default chip are of any run whose context says that it has the published chip.
std::vector<ReferenceTable> reference_tables(std::string_view experiment,
                                             const harness::RunContext& context);

/// Gives every emulated point the first published row that says what the point has on each of its
/// axes, including artefacts, with their status. Host points, and all points of a chip or a
/// software that is not that of a table, ran on another machine. They get only rows without a
/// unit, which are results of arithmetic. A point that chose its chip gets the rows of that chip.
void attach_references(harness::ExperimentResult& result);

/// Returns what was published as `metric` of a point that attach_references() has given a figure,
/// maybe another one.
std::optional<double> also_published(std::string_view experiment, const harness::PointResult& point,
                                     std::string_view metric);

/// Returns the point's published figure as `metric`. A published time is also a published rate,
/// because both belong to the same work. It is absent without a reference, or if the reference says
/// nothing about the metric.
std::optional<double> published_value(const harness::PointResult& point, std::string_view metric);

}  // namespace howard::reports
