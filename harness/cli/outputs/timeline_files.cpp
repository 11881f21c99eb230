// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/outputs/timeline_files.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "harness/cli/command/program.h"
#include "profiler/formats/traces/chrome_trace.h"
#include "profiler/formats/traces/perfetto_trace.h"
#include "profiler/formats/tt_metal_logs.h"
#include "profiler/silicon/logged_program.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;

void write_trace(const std::deque<TracedPoint>& points, const std::string& file) {
  std::vector<profiler::TraceProcess> processes;
  std::uint64_t losses = 0;
  for (const TracedPoint& point : points) {
    const profiler::EventRecorder& recorder = point.recorder.recorder();
    processes.push_back(
        {.name = point.experiment + "/" + point.name,
         .events = recorder.events(),
         .losses = recorder.losses(),
         .facts = [&](std::uint64_t program) { return point.recorder.facts(program); }});
    losses += recorder.losses();
  }
  if (losses > 0) {
    complain("the trace lacks {} events that found no room", losses);
  }
  const bool perfetto = fs::path(file).extension() == ".pftrace";
  write_file(file, perfetto ? profiler::perfetto_trace(processes)
                            : profiler::chrome_trace(processes).json);
  if (file != "-") fmt::print(stderr, "wrote {}\n", file);
}

void write_device_logs(const TracedPoint& point, const fs::path& folder,
                       const profiler::DeviceFacts& device) {
  const profiler::EventRecorder& recorder = point.recorder.recorder();
  const std::vector<profiler::OpRecord> records = profiler::op_records(
      recorder.events(), [&](std::uint64_t program) { return point.recorder.facts(program); });
  const fs::path place = folder / point.experiment / file_name_of(point.name);
  write_file(place / "ops_perf_results.csv", profiler::ops_csv(records, device));
  write_file(place / "profile_log_device.csv", profiler::device_log_csv(records, device));
  if (recorder.losses() > 0) {
    complain("{} lacks {} events that found no room", place.string(), recorder.losses());
  }
  if (records.size() > profiler::kMostDeviceLogPrograms) {
    complain("{}: profile_log_device.csv has the first {} programs of {}", place.string(),
             profiler::kMostDeviceLogPrograms, records.size());
  }
}

}  // namespace

bool write_traces(const std::deque<TracedPoint>& points, const RunOptions& options,
                  const chip::ChipProfile& chip) {
  try {
    if (!options.outputs.trace.empty()) write_trace(points, options.outputs.trace);
    if (options.outputs.device_logs.empty()) return true;
    const profiler::DeviceFacts device{.architecture = chip.architecture,
                                       .clock = chip.aiclk,
                                       .worker_cores = profiler::usual_grid(chip).cores()};
    bool wrote = false;
    for (const TracedPoint& point : points) {
      // The logs describe a Tenstorrent device, so runs on the host have no place in them.
      if (point.backend != harness::Backend::emulated) continue;
      write_device_logs(point, options.outputs.device_logs, device);
      wrote = true;
    }
    fmt::print(stderr, "{} logs as of tt-metal into {}\n",
               wrote ? "wrote" : "no emulated point was recorded: no",
               options.outputs.device_logs.string());
  } catch (const Error& failure) {
    complain(failure.what());
    return false;
  }
  return true;
}

}  // namespace howard::cli
