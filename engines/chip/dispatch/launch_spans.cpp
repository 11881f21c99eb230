// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/dispatch/launch_spans.h"

#include "engines/chip/kernels/plan/planned_program.h"

namespace howard::chip {

void record_launch(EventSink& sink, std::uint64_t program, int queue, const CoreRange& cores,
                   const Launch& launch, const LaunchTimes& times) {
  const auto index = [](int number) { return static_cast<std::uint16_t>(number); };
  const std::string_view name = launch.planned->name;
  const auto span = [&](Track track, std::string_view category, SimTime start, SimTime end) {
    sink.record({.track = track,
                 .name = name,
                 .category = category,
                 .start = start,
                 .end = end,
                 .program = program});
  };
  span({TrackKind::dispatcher, Lane::none, index(queue)}, "dispatch", times.dispatch_start,
       times.dispatch_end);
  span({TrackKind::sub_device, Lane::none, index(launch.sub_device)}, "kernel", times.kernel_start,
       times.kernel_end);
  // The lanes show the kernel alone on the chip. If it shared the DRAM, it took longer, and it is
  // not known which lane waited.
  const KernelCost& kernel = launch.planned->kernel;
  const SimTime zero = times.kernel_start;
  for (int i = 0; i < kernel.cores; ++i) {
    const std::uint16_t core = core_index(cores.first_column + i % kernel.grid.columns,
                                          cores.first_row + i / kernel.grid.columns);
    span({TrackKind::core, Lane::reader, core}, "read", zero, zero + kernel.reads_end);
    span({TrackKind::core, Lane::compute, core}, "math", zero + kernel.compute_start,
         zero + kernel.math_end);
    span({TrackKind::core, Lane::writer, core}, "write", zero + kernel.first_write,
         zero + kernel.total);
  }
}

void record_event_wait(EventSink& sink, int queue, SimTime start, SimTime end) {
  const auto index = static_cast<std::uint16_t>(queue);
  sink.record({.track = {TrackKind::dispatcher, Lane::none, index},
               .name = "wait_for_event",
               .category = "event wait",
               .start = start,
               .end = end});
}

}  // namespace howard::chip
