// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/paper.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "base/file.h"
#include "reports/pictures/plot.h"
#include "reports/sweeps/sweep_summary.h"
#include "reports/tables/latex.h"
#include "reports/tables/markdown.h"
#include "reports/tables/table_csv.h"

namespace howard::cli {
namespace {

/// Describes a width of a paper; pictures that need more height have it. A PDF has 144 pixels in an
/// inch, so that letters are some 7 points high.
struct PaperWidth {
  std::string_view name;
  reports::PictureSize size;
};
constexpr double kPixelsPerInch = 144;
constexpr std::array<PaperWidth, 2> kWidths{{{"column", {504, 400}}, {"page", {1008, 504}}}};

/// Writes `table` in all formats and returns how many files that is.
std::size_t write_table(const reports::Table& table, const std::filesystem::path& file) {
  const auto write = [&](std::string_view ending, const std::string& text) {
    write_file(file.string() + std::string(ending), text);
  };
  write(".tex", reports::latex_table(table));
  write(".csv", reports::table_csv(table));
  write(".md", reports::markdown_table(table));
  return 3;
}

std::size_t write_pictures(const PaperPart& part, const std::filesystem::path& folder,
                           std::vector<std::string>& problems) {
  std::size_t count = 0;
  for (const auto& [name, size] : kWidths) {
    const reports::PlotFiles files =
        reports::write_plots(*part.result, part.presentation,
                             {.folder = folder,
                              .size = size,
                              .formats = {reports::PictureFormat::svg, reports::PictureFormat::pdf},
                              .suffix = "_" + std::string(name),
                              .per_inch = kPixelsPerInch});
    count += files.written.size();
    std::ranges::copy(files.failures, std::back_inserter(problems));
    if (!files.not_rendered.empty()) problems.push_back(files.not_rendered);
  }
  return count;
}

}  // namespace

std::size_t write_paper(const std::vector<PaperPart>& parts,
                        const std::vector<reports::Table>& summary,
                        const std::filesystem::path& folder, std::vector<std::string>& problems) {
  require_writable_folder(folder);
  std::size_t count = 0;
  const auto write_tables = [&](const std::vector<reports::Table>& tables, std::string_view name) {
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const std::string number = i == 0 ? "" : fmt::format("_{}", i + 1);
      count += write_table(tables[i], folder / (std::string(name) + number));
    }
  };
  for (const PaperPart& part : parts) {
    std::vector<reports::Table> tables = reports::make_tables(*part.result, part.presentation);
    std::ranges::move(reports::sweep_tables(*part.result, part.presentation, true),
                      std::back_inserter(tables));
    write_tables(tables, file_name_of(part.result->experiment));  // which a file says
    count += write_pictures(part, folder, problems);
  }
  write_tables(summary, "summary");
  return count;
}

}  // namespace howard::cli
