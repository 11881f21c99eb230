// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engines/device/forwarding_device.h"

namespace howard::mesh {

/// A device in front of another one that runs some programs itself, on the host, and hands
/// everything else on to the device behind it. In a capture, such a program ends a part of the
/// trace: a replay replays the parts one after the other and runs the programs between them.
class TraceSplitter : public ForwardingDevice {
 public:
  void release_trace(TraceId trace) override;

 protected:
  explicit TraceSplitter(Device& device) : ForwardingDevice(device) {}

 private:
  /// A part of a trace: programs that the device behind replays, and the program that follows them
  /// on the host. Either may be missing.
  struct TracePart {
    std::optional<TraceId> programs;
    std::optional<Program> on_host;
  };
  using Trace = std::vector<TracePart>;

  /// Returns whether run() runs a program.
  virtual bool runs_itself(const Program& program) const = 0;
  virtual void run(const Program& program) = 0;

  void enqueue(const Program& program) final;
  void begin_trace_capture() final;
  TraceId end_trace_capture() final;
  void execute_trace(TraceId trace) final;

  /// Ends the capture on the device behind. Returns nothing if no program was captured.
  std::optional<TraceId> end_part();
  void release_parts(const Trace& trace);
  std::map<TraceId, Trace>::iterator find(TraceId trace);

  std::optional<Trace> capture_;
  bool part_is_empty_ = true;
  std::map<TraceId, Trace> traces_;
  std::uint64_t next_trace_ = 1;
};

}  // namespace howard::mesh
