// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "profiler/formats/raw/csv_text.h"
#include "profiler/formats/raw/raw_ops.h"

namespace howard::profiler {
namespace {

/// Returns microseconds in nanoseconds, as a cell.
std::string in_nanoseconds(const std::string& microseconds) {
  const auto value = parse_number(microseconds);
  return value && std::isfinite(*value) ? fmt::format("{:.0f}", *value * 1000) : "";
}

/// Returns the chip by the peak of its DRAM: what a row moved a second, and which share it was.
std::string_view chip_of_report(const CsvText& report) {
  for (const std::vector<std::string>& row : report.rows) {
    const auto moved = parse_number(report.cell(row, "DRAM"));
    const auto percent = parse_number(report.cell(row, "DRAM %"));
    if (!moved || !percent || *percent <= 0) continue;
    const double peak = *moved / *percent * 100;  // in GB/s
    if (std::abs(peak - 288) < 15) return "wormhole_b0";
    if (std::abs(peak - 512) < 25) return "blackhole";
  }
  return "";
}

/// Holds "MatmulDeviceOperation 32 x 2048 x 3072", taken apart.
struct ReportCode {
  std::string name;
  std::vector<std::string> sizes;  ///< M, K and N of a product; else none.
};

ReportCode report_code(const std::string& cell) {
  const std::size_t space = cell.find(' ');
  ReportCode code{.name = cell.substr(0, space), .sizes = {}};
  if (space == std::string::npos) return code;
  for (const std::string& part : split(std::string_view(cell).substr(space + 1), 'x')) {
    const std::string_view number = trimmed(part);
    if (!parse_integer(number)) return {.name = cell, .sizes = {}};
    code.sizes.emplace_back(number);
  }
  if (code.sizes.size() != 3) code.sizes.clear();
  return code;
}

std::string report_tensor(const std::string& rows, const std::string& columns,
                          const std::string& type, const std::string& memory) {
  return fmt::format("1,1,{},{},TILE,{},{}", rows, columns, type, memory);
}

std::string product_tensors(const CsvText& report, const std::vector<std::string>& row,
                            const ReportCode& code) {
  if (code.sizes.size() != 3) return ",,,,,,,,,,,,,,,,,,,,";
  const std::string memory = report.cell(row, "Input 0 Memory");
  const bool sharded = report.cell(row, "DRAM Sharded") == "True";
  return report_tensor(code.sizes[0], code.sizes[1], report.cell(row, "Input 0 Datatype"), memory) +
         "," +
         report_tensor(code.sizes[1], code.sizes[2], report.cell(row, "Input 1 Datatype"),
                       sharded ? "DEV_0_DRAM_WIDTH_SHARDED" : "DEV_0_DRAM_INTERLEAVED") +
         "," +
         report_tensor(code.sizes[0], code.sizes[2], report.cell(row, "Output Datatype"), memory);
}

/// Returns the attributes of a product whose weights are sharded in DRAM: the blocks along the sum,
/// which the report has. It does not say on how many cores the first operand lies; ttnn's users
/// take 8, and the time does not depend on it.
std::string product_attributes(const CsvText& report, const std::vector<std::string>& row,
                               const ReportCode& code) {
  constexpr std::int64_t kTile = 32, kCores = 8;
  const auto block = parse_integer(report.cell(row, "Inner Dim Block Size"));
  if (code.sizes.size() != 3 || report.cell(row, "DRAM Sharded") != "True" || !block) return "";
  const std::int64_t inner = parse_integer(code.sizes[1]).value_or(0);
  const std::int64_t columns = parse_integer(code.sizes[2]).value_or(0);
  const std::int64_t of_core = inner / (kTile * kCores);
  const bool fits = *block > 0 && inner % (kTile * kCores) == 0 && of_core % *block == 0;
  if (!fits || columns < 1) return "";
  return fmt::format(
      "{{'program_config': 'MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w={};"
      "per_core_M=1;per_core_N={};fused_activation=std::nullopt)'}}",
      *block, (columns + kTile * kCores - 1) / (kTile * kCores));
}

std::string reported_fidelity(const std::string& cell) {
  const std::string word = cell.substr(0, cell.find(' '));
  return word.starts_with("HiFi") || word == "LoFi" ? word : "";
}

}  // namespace

std::string ops_csv_of_report(std::string_view text, std::string_view name) {
  const CsvText report(text);
  if (report.rows.empty()) {
    throw Error({.attempted = fmt::format("read {} as tt-perf-report's CSV", name),
                 .value = "it has no rows",
                 .accepted = "a header with OP Code and Device Time, and a row for each op"});
  }
  std::string csv =
      "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE ARCH,CORE COUNT,MATH FIDELITY,ATTRIBUTES,"
      "OP TO OP LATENCY [ns],DEVICE KERNEL DURATION [ns]";
  for (const char* const operand : {"INPUT_0", "INPUT_1", "OUTPUT_0"}) {
    for (const char* const cell : {"W", "Z", "Y", "X", "LAYOUT", "DATATYPE", "MEMORY"}) {
      csv += fmt::format(",{}_{}", operand, cell);
    }
  }
  csv += "\n";
  const std::string_view chip = chip_of_report(report);
  for (const std::vector<std::string>& row : report.rows) {
    const ReportCode code = report_code(report.cell(row, "OP Code"));
    const std::string time = in_nanoseconds(report.cell(row, "Device Time"));
    csv += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(code.name),
        time.empty() ? "python_fallback" : "tt_dnn_device", report.cell(row, "Global Call Count"),
        report.cell(row, "Device"), chip, report.cell(row, "Cores"),
        reported_fidelity(report.cell(row, "Math Fidelity")),
        csv_cell(product_attributes(report, row, code)),
        in_nanoseconds(report.cell(row, "Op-to-Op Gap")), time, product_tensors(report, row, code));
  }
  return csv;
}

}  // namespace howard::profiler
