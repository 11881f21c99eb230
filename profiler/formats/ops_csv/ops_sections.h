// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/formats/log.h"
#include "profiler/formats/ops_csv/ops_columns.h"
#include "profiler/formats/ops_csv/ops_order.h"

namespace howard::profiler {

/// Finds the sections of a run: what lies between its signposts, or between the no-op programs with
/// which TTML marks the end of a phase. Sections are numbered from 1 as they begin; 0 is what comes
/// before the first one.
class OpsSections {
 public:
  explicit OpsSections(const LogRange& range);

  void add_signpost(const OpRow& row);
  /// Returns false for a row whose GLOBAL CALL COUNT lies outside of the range.
  bool wants(const OpRow& row);
  /// Says whether its GLOBAL CALL COUNT lies before the range.
  bool is_before(const OpRow& row) const;
  /// Returns the section of a row by the order of the file; for a row that is a mark, a number that
  /// says so.
  NameId section_of(const OpRow& row);

  /// Gives every op its section and removes those that the range leaves out, that are warm-up, or
  /// that lie outside of signposts X and X_END. What ran before it was removed has `ran_before`.
  /// The ops of each device are in order. With `as_in_file` they were so in the file, and signposts
  /// stand between those of their sections; otherwise the host's times tell, where all are there.
  void assign(std::span<LoggedOps* const> devices, bool as_in_file,
              std::vector<std::string>& notes);
  /// Returns the name of a section that assign() gave.
  std::string_view name(NameId section) const;

  void begin_run();
  /// Throws Error when no run had the signposts, or a call, that the range names. It is called
  /// after the last run.
  void require_range() const;

 private:
  struct Section {
    std::string name;
    std::int64_t host_start;  ///< Or LoggedOp::kNoHost.
  };
  /// Says which sections are kept.
  struct Kept {
    std::vector<bool> sections;  ///< By number, from 0.
    std::string reason;  ///< Why others are left out: "as warm-up"; empty: it was asked for.

    bool is_all() const;
  };

  bool find_by_time(std::span<LoggedOps* const> devices);
  void find_by_markers(LoggedOps& ops);
  std::optional<Kept> kept();
  Kept kept_by_names() const;
  Kept without_warmup() const;
  Kept measured() const;

  LogRange range_;
  std::optional<std::int64_t> from_call_, to_call_;
  bool found_from_ = false, found_to_ = false;
  std::optional<std::int64_t> least_call_, most_call_;  ///< The calls seen.
  bool any_call_ = false;                               ///< One lies in the range.
  std::vector<std::string> seen_;  ///< The names of all runs' signposts, some of them.
  std::vector<Section> sections_;
  std::vector<std::string> markers_;  ///< What the marks of this run say.
  bool by_markers_ = false;
};

}  // namespace howard::profiler
