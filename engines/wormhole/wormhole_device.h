// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "engines/device/device.h"
#include "engines/wormhole/planned_program.h"
#include "engines/wormhole/profile.h"

namespace howard::wormhole {

struct DeviceOptions {
  DispatchCoreType dispatch = DispatchCoreType::worker;
  int command_queues = 1;  ///< 1 or 2, tt-metal's limit.
};

/// The emulated chip: a Device whose clock is virtual. It plans and times programs from the two
/// profiles and holds no values; equal calls give equal times to the picosecond, everywhere.
///
/// One host thread uses it at a time. Reading a buffer is an Error: there is nothing to read. As on
/// the hardware, a queue may use a sub-device that another queue has used only after that queue was
/// finished, or after waiting for an event it recorded behind its last program there.
class WormholeDevice final : public Device {
 public:
  /// Error for a number of command queues the hardware does not have.
  explicit WormholeDevice(const Profiles& profiles, const DeviceOptions& options = {});
  ~WormholeDevice() override;

  std::string description() const override;
  BufferId allocate(const TensorSpec& spec) override;
  void release(BufferId buffer) override;
  int command_queues() const override;
  CommandQueue& command_queue(int index) override;
  void release_trace(TraceId trace) override;
  void set_sub_devices(std::span<const CoreRange> sub_devices) override;
  SimTime now() const override;
  void set_trace_sink(TraceSink* sink) override;

  CoreGrid compute_grid() const;
  /// The launches that `program` would be, in order, for explanations; they live as long as the
  /// device.
  std::span<const PlannedProgram> launches(const Program& program);
  /// The last of them: what a matrix product is after its operands were transposed.
  const PlannedProgram& explain(const Program& program);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace howard::wormhole
