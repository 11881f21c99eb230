// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engines/device/collective.h"
#include "engines/device/forwarding_device.h"
#include "engines/mesh/communicator.h"

namespace howard::mesh {

/// A device that computes and is connected to the devices of other ranks: it runs collectives with
/// them and hands everything else on to the device behind it. Sums are made in the order of the
/// ranks and in float32, so all devices get the same bits.
///
/// Behind an emulated chip, it computes the values of the programs that the chip times.
class MeshMember final : public ForwardingDevice {
 public:
  /// `ranks` must outlive it. The handle of a group holds its index in `groups`, each
  /// of which has the ranks of its members in their order, this rank among them.
  MeshMember(Device& device, Communicator& ranks, std::vector<std::vector<int>> groups);

  void release_trace(TraceId trace) override;

 private:
  /// A part of a trace: programs that the device replays, and the collective behind them. The last
  /// part has none.
  struct TracePart {
    TraceId programs{};
    std::optional<Program> collective;
  };
  using Trace = std::vector<TracePart>;

  /// A collective waits for all earlier programs, and the host waits for it. In a capture it ends a
  /// part of the trace.
  void enqueue(const Program& program) override;
  void begin_trace_capture() override;
  TraceId end_trace_capture() override;
  /// All members must replay traces with the same collectives.
  void execute_trace(TraceId trace) override;

  void run(const Program& program, const Collective& collective);
  void release_parts(const Trace& trace);
  std::map<TraceId, Trace>::iterator find(TraceId trace);

  const std::vector<int>& group_of(const Program& program);
  std::vector<std::byte> read(const Operand& operand);
  std::vector<std::byte> gather(const std::vector<int>& group, const Collective& collective,
                                const Operand& part);
  std::vector<std::byte> sum_share(const std::vector<int>& group, const Collective& collective,
                                   const Operand& whole);

  Communicator& ranks_;
  std::vector<std::vector<int>> groups_;
  std::optional<Trace> capture_;
  std::map<TraceId, Trace> traces_;
  std::uint64_t next_trace_ = 1;
};

}  // namespace howard::mesh
