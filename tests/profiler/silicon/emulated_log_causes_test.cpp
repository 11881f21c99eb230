// SPDX-License-Identifier: Apache-2.0
//
// A run of the emulator means the same whichever file it was written to: its own timeline, its
// log in tt-metal's format, and the timeline of that log say alike what the host did in each gap.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "engines/chip/emulated_chip.h"
#include "engines/ops/tensor.h"
#include "profiler/dispatch_gaps.h"
#include "profiler/formats/log_trace.h"
#include "profiler/formats/ops_csv/ops_csv_reader.h"
#include "profiler/formats/traces/chrome_trace.h"
#include "profiler/formats/traces/chrome_trace_reader.h"
#include "profiler/formats/tt_metal_logs.h"
#include "profiler/program_recorder.h"
#include "tests/profiler/formats/wormhole_device.h"

namespace howard::profiler {
namespace {

class EmulatedLogCauses : public ::testing::Test {
 protected:
  EmulatedLogCauses() { device_.set_trace_sink(&recorder_); }

  Program product(std::int64_t size) {
    const TensorSpec spec{Shape({size, size}), DataType::bfloat16};
    for (int i = 0; i < 3; ++i) tensors_.emplace_back(device_, spec);
    const auto last = tensors_.end();
    return make_program(MatmulAttributes{}, {last[-3], last[-2]}, {last[-1]});
  }

  Program sum(std::int64_t size) {
    const TensorSpec spec{Shape({size, size}), DataType::bfloat16};
    for (int i = 0; i < 3; ++i) tensors_.emplace_back(device_, spec);
    const auto last = tensors_.end();
    return make_program(eltwise_of(Eltwise::add), {last[-3], last[-2]}, {last[-1]});
  }

  Timeline timeline() const { return timeline_of(recorder_.recorder().events()); }

  /// Returns the run as it is read back from its ops CSV.
  Log log() const {
    const std::string text = csv();
    TextBytes source(text);
    return read_ops_csv(source, "ops.csv");
  }

  std::string csv() const {
    const auto records = op_records(recorder_.recorder().events(), [&](std::uint64_t program) {
      return recorder_.facts(program);
    });
    return ops_csv(records, kWormholeDevice);
  }

  /// Returns a log as it is read back from the timeline that `analyze --trace` writes of it.
  static Log as_trace(const Log& log) {
    const std::vector<LogTrace> traces = traces_of(log);
    std::vector<TraceProcess> processes;
    for (const LogTrace& trace : traces) processes.push_back(trace.process());
    const std::string text = chrome_trace(processes).json;
    TextBytes source(text);
    return read_chrome_trace(source, "trace.json");
  }

  chip::EmulatedChip& device() { return device_; }
  CommandQueue& queue() { return device_.command_queue(0); }

  chip::Profiles profiles_ = chip::load_profiles();
  chip::EmulatedChip device_{profiles_, {}};
  ProgramRecorder recorder_;
  std::deque<ops::Tensor> tensors_;
};

CauseTimes causes_in(const Timeline& timeline) {
  return time_by_cause(find_gaps(timeline, LaneKind::device));
}

/// Expects that times are equal but for the nanoseconds to which files are written.
void expect_near(SimTime one, SimTime other, const char* what) {
  EXPECT_NEAR(one.seconds(), other.seconds(), 200e-9) << what;
}

TEST_F(EmulatedLogCauses, AreTheSameInEachFile) {
  const Program small = product(256), large = product(1024);
  for (int i = 0; i < 12; ++i) {
    queue().enqueue(small);
    if (i % 3 == 1) device().host_work(HostWork::python_call, 1);
    if (i % 4 == 2) queue().enqueue(large);
    if (i % 6 == 5) queue().finish();
  }
  const CauseTimes own = causes_in(timeline());
  const Log logged = log();
  ASSERT_EQ(logged.runs.size(), 1U);
  const CauseTimes csv = causes_in(logged.runs[0].timeline);
  ASSERT_GT(own[GapCause::between_calls], SimTime());
  ASSERT_GT(own[GapCause::host_issuing], SimTime());
  // A log does not know a finish, nor the dispatcher: what it knows has the same limits.
  expect_near(csv[GapCause::between_calls], own[GapCause::between_calls] + own[GapCause::finish],
              "until the call");
  expect_near(csv[GapCause::host_issuing], own[GapCause::host_issuing] + own[GapCause::queue_full],
              "within the call");
  expect_near(csv[GapCause::launch],
              own[GapCause::dispatcher_held] + own[GapCause::dispatch] + own[GapCause::go_latency],
              "after the call");
  EXPECT_EQ(csv[GapCause::unknown], SimTime());
  const Log again = as_trace(logged);
  ASSERT_EQ(again.runs.size(), 1U);
  const CauseTimes traced = causes_in(again.runs[0].timeline);
  for (const GapCause cause :
       {GapCause::between_calls, GapCause::host_issuing, GapCause::launch, GapCause::unknown}) {
    EXPECT_EQ(traced[cause], csv[cause]) << name_of(cause);
  }
}

/// Returns the cells of a line, whose quotes they keep.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '"') is_quoted = !is_quoted;
    if (c == ',' && !is_quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

/// Returns the ops CSV with the cycles of the device counted from `cycles` earlier.
std::string with_device_origin(const std::string& csv, std::int64_t cycles) {
  std::string moved;
  std::vector<std::string> head;
  for (const std::string& line : split(csv, '\n')) {
    std::vector<std::string> cells = cells_of(line);
    if (head.empty()) head = cells;
    for (std::size_t i = 0; i < cells.size() && i < head.size(); ++i) {
      const bool is_cycle = head[i] == "DEVICE FW START CYCLE" || head[i] == "DEVICE FW END CYCLE";
      const auto cycle = parse_integer(cells[i]);
      if (is_cycle && cycle) cells[i] = std::to_string(*cycle + cycles);
    }
    moved += join(cells, ",") + "\n";
  }
  return moved;
}

/// Returns the shortest time from a call to its program.
SimTime least_latency(const Log& log) {
  std::optional<SimTime> least;
  for (const ProgramRun& program : log.runs.at(0).timeline.programs) {
    if (!program.host_call) continue;
    const SimTime late = program.kernel.start - program.host_call->start;
    least = std::min(least.value_or(late), late);
  }
  return least.value_or(SimTime());
}

TEST_F(EmulatedLogCauses, DoNotDependOnWhereTheDevicesCounterBegins) {
  const Program small = sum(64), large = sum(256);
  constexpr int kCalls = 60;
  for (int i = 0; i < kCalls; ++i) {
    queue().enqueue(i % 4 == 2 ? large : small);
    if (i % 3 == 1) device().host_work(HostWork::python_call, 1);
  }
  queue().finish();
  const Log usual = log();
  const CauseTimes as_it_is = causes_in(usual.runs.at(0).timeline);
  const std::string text = with_device_origin(csv(), 1'000'000'000);
  TextBytes source(text);
  const Log moved = read_ops_csv(source, "ops.csv");
  const auto& clock = moved.runs.at(0).devices.at(0).host_clock;
  ASSERT_TRUE(clock);
  const SimTime unknown = least_latency(usual) - clock->assumed_latency;
  EXPECT_GE(unknown, SimTime()) << "no program is that early";
  EXPECT_LE(unknown, SimTime::nanoseconds(2'500));
  const CauseTimes causes = causes_in(moved.runs[0].timeline);
  const double known_to = kCalls * (unknown + clock->uncertainty).seconds();
  for (const GapCause cause : {GapCause::between_calls, GapCause::host_issuing, GapCause::launch}) {
    EXPECT_NEAR(causes[cause].seconds(), as_it_is[cause].seconds(), known_to) << name_of(cause);
  }
  ASSERT_GT(as_it_is[GapCause::host_issuing].seconds(), 5 * known_to);
  ASSERT_GT(as_it_is[GapCause::between_calls].seconds(), 5 * known_to);
}

TEST_F(EmulatedLogCauses, OfAReplayAreTheSameInEachFile) {
  const Program program = product(256);
  queue().begin_trace_capture();
  for (int i = 0; i < 6; ++i) queue().enqueue(program);
  const TraceId trace = queue().end_trace_capture();
  for (int i = 0; i < 3; ++i) {
    device().host_work(HostWork::python_call, 1);
    queue().execute_trace(trace);
  }
  queue().finish();
  const CauseTimes own = causes_in(timeline());
  const CauseTimes csv = causes_in(log().runs.at(0).timeline);
  ASSERT_GT(own[GapCause::between_calls], SimTime());
  expect_near(csv[GapCause::between_calls], own[GapCause::between_calls], "until the call");
  expect_near(csv[GapCause::host_issuing], own[GapCause::host_issuing], "within the call");
  expect_near(csv.total(), own.total(), "all");
}

TEST_F(EmulatedLogCauses, ItsClocksAreOne) {
  const Program program = product(256);
  for (int i = 0; i < 5; ++i) queue().enqueue(program);
  queue().finish();
  const Log logged = log();
  const auto& clock = logged.runs.at(0).devices.at(0).host_clock;
  ASSERT_TRUE(clock);
  EXPECT_EQ(clock->rate, 1);
  EXPECT_EQ(clock->uncertainty, SimTime::nanoseconds(1));
}

}  // namespace
}  // namespace howard::profiler
