// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/formats/log.h"
#include "profiler/formats/ops_csv/ops_csv_reader.h"
#include "profiler/formats/ops_csv/ops_order.h"
#include "profiler/formats/ops_csv/ops_sections.h"
#include "profiler/formats/ops_csv/timeless_ops.h"

namespace howard::profiler {

/// Makes runs of the rows of an `ops_perf_results` file, whatever their order.
class OpsTimelineBuilder {
 public:
  /// `log` gets the runs and what is dropped; it must outlive the builder. `knows` is what the
  /// file's columns tell, `options` what is wanted of it.
  OpsTimelineBuilder(Log& log, const OpsFileKnows& knows, const ReadOptions& options);

  /// Takes a row. If a row repeats the first call of its device at an earlier cycle, the device was
  /// reset between them and another run begins, as with another file that was appended. Rows that
  /// are in the file twice are of the same run.
  void add(const OpRow& row);
  /// Ends the run if it has rows; the next row begins another.
  void end_run();
  /// Ends the log after the last run. Throws Error when no run has a signpost that the range names.
  void end_log();

 private:
  struct Device {
    std::string architecture;
    bool mixed = false;  ///< Rows name several chips.
    std::int64_t worker_cores = 0, used_cores = 0;
    std::optional<std::int64_t> first_call;
    std::int64_t first_cycle = 0;  ///< The start of the first row.
    std::int64_t last_cycle = 0;   ///< The latest row's start, as the file has it.
    OpsOrder order;
    LoggedOps ops;
    std::map<std::int64_t, std::size_t> clocks;  ///< The number of rows that say each MHz.

    LoggedOp& add_op();
    void add_clock(const LoggedOp& op);
  };

  /// A device op without the device's times.
  struct Timeless {
    std::uint32_t host_id;  ///< Its GLOBAL CALL COUNT; 0: none.
    std::uint64_t line;
    NameId name;
    std::int64_t host_start;  ///< Or LoggedOp::kNoHost.
    SimTime host_time;
  };

  void add_host_op(NameId name, std::string_view type, SimTime time);
  void add_timeless(const OpRow& row);
  void drop_timeless(NameId name, std::uint64_t line);
  void forget_captures(const std::unordered_map<std::uint32_t, std::int64_t>& captured);
  void sort_timeless();
  void note_excluded(const OpRow& row);
  bool is_compiled(const OpRow& row);
  void add_device_op(const OpRow& row);
  void set_host_times(const OpRow& row, LoggedOp& op) const;
  bool begins_run(const OpRow& row) const;
  bool repeats_first_row(const OpRow& row) const;
  LoggedDevice describe_device(std::uint16_t id, Device& device);
  void put_in_order();
  void make_programs();
  void number_names();

  Log& log_;
  OpsFileKnows knows_;
  ReadOptions options_;
  OpsSections sections_;
  std::size_t programs_ = 0;  ///< The programs of all runs.
  LoggedRun run_;
  std::optional<std::int64_t> host_origin_;
  std::map<std::uint16_t, Device> devices_;
  std::map<std::pair<NameId, std::string>, HostOp> host_ops_;
  TimelessOps<Timeless> timeless_;
  std::set<std::pair<std::uint32_t, NameId>> ran_before_;  ///< Before the range: call and name.
  std::uint32_t latest_call_ = 0;                          ///< Of those with times.
  std::uint64_t doubted_misses_ = 0;  ///< Of the program cache, which the host's time denies.
};

}  // namespace howard::profiler
