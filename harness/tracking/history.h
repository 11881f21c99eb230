// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/tracking/run.h"
#include "harness/tracking/sqlite.h"

namespace howard::tracking {

/// Holds what a series was in one stored run.
struct HistoryPoint {
  std::int64_t run = 0;  ///< The number of the run in the database.
  std::string commit;
  std::string branch;
  std::int64_t time = 0;         ///< The run's time, in seconds since 1970.
  double value = 0;              ///< The value in the unit of the series.
  std::int64_t picoseconds = 0;  ///< Only an exact series has them.
  std::int64_t context = 0;      ///< Equal numbers mean equal conditions and constants.
};

/// Holds a series of the database.
struct StoredSeries {
  std::int64_t number = 0;
  Series series;
};

/// Keeps runs in a database, which is a SQLite file. Every run is stored in one transaction with
/// write-ahead logging, so that a program that is killed loses no run that was stored and leaves no
/// half of one, and several programs may write at the same time. The order of runs is that of their
/// commits' dates, and of the runs themselves where commits have none.
///
/// Samples are kept as 32-bit floats (a relative error of 6e-8); values and picoseconds are kept as
/// they are.
class History {
 public:
  using Access = SqliteFile::Access;
  /// Throws Error if the file is no database of this program or of a newer schema, is locked for
  /// longer than ten seconds, or may not be read or written.
  explicit History(const std::filesystem::path& path, Access access = Access::read);

  /// Stores a run; one without id gets one. Returns false if a run of that id is there already.
  bool add(Run& run);

  std::size_t run_count() const;
  /// Returns the number of the last stored run of the branch of that name, or of the commit of that
  /// name, which git's names may also begin with; absent if there is none. Clean runs come before
  /// "-dirty" ones. Throws Error if a shortened name means several commits.
  std::optional<std::int64_t> find_run(std::string_view commit_or_branch) const;
  /// Returns a run with all its rows.
  Run load(std::int64_t run) const;
  /// Returns the numbers of all runs, in order; of all branches if `branch` is empty.
  std::vector<std::int64_t> runs(const std::string& branch = "") const;
  /// Returns up to `most` runs up to and with `run`, of its branch and conditions, in order.
  std::vector<std::int64_t> runs_until(std::int64_t run, std::size_t most) const;
  /// Does the same for the runs of the same commit alone.
  std::vector<std::int64_t> runs_of_commit_until(std::int64_t run, std::size_t most) const;

  /// Returns the runs without those that are copies of later ones (content_id()), in order.
  std::vector<std::int64_t> without_copies(const std::vector<std::int64_t>& runs) const;

  /// Returns the series with numbers, of those benchmarks whose name contains `part`.
  std::vector<StoredSeries> find_series(std::string_view part) const;
  /// Returns the last `most` points of a series, in order; of all branches if `branch` is empty.
  std::vector<HistoryPoint> points(std::int64_t series, const std::string& branch,
                                   std::size_t most) const;
  /// Returns the values of all sampled series in these runs: by series, in the order of the runs.
  std::map<Series, std::vector<double>> sampled_values(const std::vector<std::int64_t>& runs) const;

  const std::filesystem::path& path() const { return file_.path(); }

 private:
  void open_schema(Access access);
  std::vector<std::int64_t> alike_until(std::string_view columns, std::int64_t run,
                                        std::size_t most) const;
  std::int64_t context_number(const Run& run);
  std::int64_t text_number(const std::string& text);
  std::int64_t series_number(const Series& series);
  void add_rows(std::int64_t run, const std::vector<Row>& rows);

  SqliteFile file_;
  std::map<Series, std::int64_t> known_series_;
};

}  // namespace howard::tracking
