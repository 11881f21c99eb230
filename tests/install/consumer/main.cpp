// SPDX-License-Identifier: Apache-2.0
//
// This is a project of its own over an installed Howard. It runs one matrix product on the emulated
// chip and prints what the profiler saw of it.
#include <fmt/format.h>

#include "engines/chip/emulated_chip.h"
#include "engines/ops/tensor.h"
#include "profiler/event_recorder.h"
#include "profiler/timeline.h"

int main() {
  howard::profiler::EventRecorder recorder;
  howard::chip::EmulatedChip device(howard::chip::load_profiles());
  device.set_trace_sink(&recorder);
  const howard::ops::Tensor a(device, {{1024, 512}});
  const howard::ops::Tensor b(device, {{512, 2048}});
  const howard::ops::Tensor out(device, {{1024, 2048}});
  device.command_queue(0).enqueue(howard::make_program(howard::MatmulAttributes{}, {a, b}, {out}));
  device.command_queue(0).finish();
  const auto timeline = howard::profiler::timeline_of(recorder.events());
  for (const auto& program : timeline.programs) {
    fmt::print("{} {}\n", timeline.names.name(program.name), program.kernel.duration().ps());
  }
}
