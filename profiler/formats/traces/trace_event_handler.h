// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sim_time.h"
#include "profiler/formats/csv/dropped_rows.h"
#include "profiler/formats/traces/read_trace.h"
#include "profiler/timeline.h"

namespace howard::profiler {

/// Takes a trace as the JSON parser goes through it (nlohmann's SAX interface), so that the file is
/// never held as a tree.
class TraceEventHandler {
 public:
  TraceEventHandler(NameTable& names, DroppedRows& dropped) : names_(names), dropped_(dropped) {}

  const TraceSpans& found() const { return found_; }
  /// Returns what the parser found wrong; absent if it found the end.
  const std::optional<std::string>& failure() const { return failure_; }

  // The parser calls these. All return true to go on.
  bool null() { return value(); }
  bool boolean(bool /*value*/) { return value(); }
  bool number_integer(std::int64_t number);
  bool number_unsigned(std::uint64_t number);
  bool number_float(double number, const std::string& text);
  bool string(std::string& text);
  bool binary(nlohmann::json::binary_t& /*value*/) { return value(); }
  bool start_object(std::size_t size);
  bool end_object();
  bool start_array(std::size_t size);
  bool end_array();
  bool key(std::string& text);
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::json::exception& failure);

 private:
  /// Holds the members of an event that matter, as texts.
  struct Event {
    std::string phase, name, category, process, thread;
    std::optional<SimTime> start, duration;
    bool bad_time = false;
    std::string argument_name, labels;
    std::uint64_t program = 0;
    std::uint32_t trace = 0;
  };

  bool value() { return true; }
  bool scalar(std::string_view text);
  void set_time(std::optional<SimTime>& member, std::string_view text);
  void take_event();
  void take_metadata();
  std::uint32_t thread_index();
  std::size_t process_index();

  NameTable& names_;
  DroppedRows& dropped_;
  int depth_ = 0;
  int events_depth_ = -1;  ///< The depth of the array of events; -1 outside of it.
  std::string key_;        ///< The last key at the depth of an event, or of its arguments.
  bool in_arguments_ = false;
  Event event_;
  std::uint64_t event_number_ = 0;
  std::map<std::string, std::size_t> process_indices_;
  std::map<std::pair<std::size_t, std::string>, std::uint32_t> thread_indices_;
  TraceSpans found_;
  std::optional<std::string> failure_;
};

}  // namespace howard::profiler
