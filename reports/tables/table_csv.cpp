// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/table_csv.h"

#include <cstddef>
#include <vector>

#include "base/csv_writer.h"
#include "reports/tables/cell_text.h"
#include "reports/tables/format.h"

namespace howard::reports {

std::string table_csv(const Table& table) {
  CsvWriter csv;
  std::vector<std::string> fields;
  for (const TableColumn& column : table.columns) {
    fields.push_back(spreadsheet_text(with_unit(column.title, column.unit)));
  }
  csv.add_record(fields);
  for (const TableRow& row : table.rows) {
    fields.clear();
    for (const Cell& cell : row.cells) fields.push_back(spreadsheet_text(cell.text));
    std::size_t free = fields.size();
    while (free > 0 && fields[free - 1].empty()) --free;
    if (!row.skipped.empty() && free < fields.size()) fields[free] = spreadsheet_text(row.skipped);
    csv.add_record(fields);
  }
  return csv.take();
}

}  // namespace howard::reports
