// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/tables/table.h"

namespace howard::cli {

/// Holds an experiment of a paper.
struct PaperPart {
  const harness::ExperimentResult* result = nullptr;
  harness::Presentation presentation;
};

/// Writes each table of the parts, and the `summary` tables, to `folder` as NAME.tex (booktabs),
/// NAME.csv and NAME.md, and each picture as SVG and PDF, as wide as one column of a paper (3.5 in,
/// NAME_column) and as two (7 in, NAME_page). Returns the number of files that were written. Throws
/// Error if one cannot be; `problems` says what was not drawn.
std::size_t write_paper(const std::vector<PaperPart>& parts,
                        const std::vector<reports::Table>& summary,
                        const std::filesystem::path& folder, std::vector<std::string>& problems);

}  // namespace howard::cli
