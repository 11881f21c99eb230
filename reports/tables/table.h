// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/presentation.h"
#include "harness/result.h"

namespace howard::reports {

/// Says what a cell tells about the result, for readers with colour.
enum class Tone : std::uint8_t { plain, good, fair, bad };

struct Cell {
  std::string text;  ///< Empty if the point has nothing there.
  Tone tone = Tone::plain;
};

struct TableColumn {
  std::string title;
  std::string unit;  ///< The unit of all its numbers: "us"; empty if there is none.
  bool number = false;
  harness::Room room = harness::Room::spare;
  std::string meaning = {};  ///< Said below the table if the column is shown.
};

struct TableRow {
  std::vector<Cell> cells;  ///< One per column.
  std::string skipped;      ///< "skipped: ..." or "failed: ..."; empty if the point ran.
};

/// Holds a table as text, not yet laid out. The last of the columns that may be left out goes
/// first.
struct Table {
  /// The caption, as in "matmul_sweep: host CPU, wall time of a product and its finish, dtype
  /// bfloat16".
  std::string caption;
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
  std::vector<std::string> notes;  ///< What the reader must know: artefacts, warnings.
};

/// Returns a table for each backend that has points, emulated first, and within it one for each
/// value of the detail `presentation.table_of`, which then is its caption. Columns without any
/// value are left out, and axes with one value for all points move to the caption. A metric has one
/// prefix per column, and the published figures have the prefix of the metric with which they are
/// compared. Repeated measurements carry half the width of their 95 % interval: "1.204 ±2.1 %". A
/// published figure marked with * is an artefact; the notes say why. Unless `all_rows` is set, a
/// table of many points shows some of them, as row_sample.h says.
std::vector<Table> make_tables(const harness::ExperimentResult& result,
                               const harness::Presentation& presentation, bool all_rows = true);

/// Returns "of peak: share of ...", which says what columns mean if their titles do not.
std::vector<std::string> meanings_of(const Table& table);

}  // namespace howard::reports
