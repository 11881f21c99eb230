// SPDX-License-Identifier: Apache-2.0
#include "experiments/logs/log_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "engines/chip/profiles/card.h"
#include "profiler/formats/csv/packed_source.h"
#include "profiler/formats/log_file.h"
#include "reports/findings/log_results.h"
#include "reports/findings/silicon_report.h"
#include "reports/formats/result_json.h"

namespace howard::experiments {
namespace {

[[noreturn]] void refuse_empty(const std::string& file, const profiler::DroppedRows& dropped) {
  std::string reasons;
  for (const auto& reason : dropped.reasons()) reasons += "; " + describe(reason);
  throw Error({.attempted = "analyze " + file,
               .value = "nothing in it ran" + reasons,
               .accepted = "a log with a row for each program and its times",
               .hint = reasons.empty() ? "the run again: its log has no row of a program" : ""});
}

profiler::SiliconComparison compare_log(profiler::ByteSource& source, const std::string& file,
                                        profiler::LogKind kind, const chip::Profiles& emulated,
                                        const profiler::ToldCalls* told = nullptr) {
  if (kind != profiler::LogKind::ops_csv) {
    throw Error({.attempted = "compare " + file + " with the emulator",
                 .value = fmt::format("a {} does not say what its ops computed", name_of(kind)),
                 .accepted = "an ops_perf_results CSV"});
  }
  profiler::SiliconComparison comparison =
      profiler::compare_with_silicon(source, file, emulated, told);
  if (comparison.calls.empty() && comparison.not_emulated.empty()) {
    refuse_empty(file, comparison.dropped);
  }
  const std::string name = std::filesystem::path(file).filename();
  if (emulated.card != nullptr &&
      std::ranges::find(emulated.card->logs, name) != emulated.card->logs.end()) {
    comparison.notes.push_back(fmt::format(
        "card {} was learnt from this log: errors are how far its runs are from their median",
        emulated.card->name));
  }
  return comparison;
}

/// Returns what a file begins with, as much as tells its kind.
std::string beginning_of(profiler::ByteSource& source) {
  std::string beginning(profiler::kDetectionBytes, '\0');
  std::size_t size = 0;
  while (size < beginning.size()) {  // a pipe gives little at a time
    const std::size_t more = source.read({beginning.data() + size, beginning.size() - size});
    if (more == 0) break;
    size += more;
  }
  beginning.resize(size);
  return beginning;
}

/// An archive is looked through before its log is read.
[[noreturn]] void refuse_pipe(const std::string& file) {
  throw Error({.attempted = "find a log in " + file,
               .value = "it is an archive that comes by a pipe",
               .accepted = "an archive as a file, or a log",
               .hint = "the archive's name in place of -"});
}

/// Returns the member of an archive that is taken as its log. Throws Error if there is none.
std::string log_in(profiler::PackedSource& archive, const std::string& file) {
  std::vector<std::string> members = archive.members(), logs;
  std::ranges::copy_if(members, std::back_inserter(logs), profiler::is_profilers_log);
  if (!logs.empty()) return *std::ranges::max_element(logs, {}, profiler::log_rank);
  constexpr std::size_t kMostNamed = 4;
  const std::size_t count = members.size();
  members.resize(std::min(count, kMostNamed));
  throw Error({.attempted = "find a log in " + file,
               .value = count == 0 ? std::string("it is empty")
                                   : fmt::format("it has {}{}", join(members, ", "),
                                                 count > kMostNamed ? ", ..." : ""),
               .accepted = "an archive with ops_perf_results*.csv or profile_log_device.csv",
               .hint = "tar xf, or unzip, and name the file"});
}

}  // namespace

LogContent read_log_content(const std::string& file, const chip::Profiles* emulated,
                            const profiler::ReadOptions& options) {
  profiler::FileSource stored(file);
  const std::string packed = beginning_of(stored);
  profiler::PrefixedSource all(packed, stored);
  std::optional<profiler::FileSource> again;
  std::optional<profiler::PackedSource> unpacked;
  std::string member;
  if (profiler::is_packed(packed)) {
    unpacked.emplace(all, file);
    if (unpacked->is_archive()) {
      std::error_code ignored;
      if (!std::filesystem::is_regular_file(file, ignored)) refuse_pipe(file);
      member = log_in(*unpacked, file);
      again.emplace(file);
      unpacked.emplace(*again, file, member);
    }
  }
  profiler::ByteSource& source = unpacked ? static_cast<profiler::ByteSource&>(*unpacked) : all;
  const std::string beginning = beginning_of(source);
  const profiler::LogKind kind = profiler::detect_kind(beginning, file);
  profiler::PrefixedSource whole(beginning, source);
  if (emulated != nullptr && profiler::becomes_ops_csv(kind)) {
    profiler::OpsCsvText text = ops_csv_text(kind, whole, file);
    profiler::TextBytes bytes(text.csv);
    profiler::SiliconComparison comparison =
        compare_log(bytes, file, profiler::LogKind::ops_csv, *emulated, text.told_calls());
    std::ranges::move(text.notes, std::back_inserter(comparison.notes));
    return comparison;
  }
  if (emulated != nullptr) return compare_log(whole, file, kind, *emulated);
  if (kind == profiler::LogKind::result) {
    if (options.range.is_whole()) return reports::parse_result_json(read_file(file), file);
    throw Error({.attempted = "take a part of " + file,
                 .value = "it is a result file",
                 .accepted = "an ops_perf_results CSV"});
  }
  profiler::Log log = profiler::read_log(kind, whole, file, options);
  if (log.runs.empty()) refuse_empty(file, log.dropped);
  if (!member.empty()) log.notes.push_back("it is " + member + " of the archive");
  return log;
}

std::vector<harness::ExperimentResult> results_of(const LogContent& content,
                                                  const std::string& file,
                                                  const harness::RunContext& context) {
  const std::string name = std::filesystem::path(file).filename();
  if (const auto* const log = std::get_if<profiler::Log>(&content)) {
    return reports::log_results(*log, name, context);
  }
  if (const auto* const comparison = std::get_if<profiler::SiliconComparison>(&content)) {
    return {reports::silicon_result(*comparison, name, context)};
  }
  return std::get<std::vector<harness::ExperimentResult>>(content);
}

}  // namespace howard::experiments
