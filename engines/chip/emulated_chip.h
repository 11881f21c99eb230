// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "engines/chip/dispatch/calls_of_chip.h"
#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/profiles/profile.h"
#include "engines/device/device.h"
#include "engines/device/forwarding_device.h"

namespace howard::chip {

struct DeviceOptions {
  DispatchCoreType dispatch = DispatchCoreType::worker;
  int command_queues = 1;  ///< 1 or 2, tt-metal's limit.
  /// If true, tt-metal's device profiler is emulated, which is read after each program.
  bool profiled = false;
  /// This device computes the values for the programs that the emulated device times; null keeps no
  /// values. It must outlive the emulated device, and nobody else may use it.
  Device* values = nullptr;
  /// This sink is told of what the device allocates, including circular buffers. Null means no
  /// sink.
  MemorySink* memory = nullptr;
  std::shared_ptr<const TunedCalls> tuned = nullptr;  ///< Null: calls run as they are asked for.
  CallSink* calls = nullptr;  ///< It outlives the device; null means no sink.
};

/// The emulated chip: a Device with a virtual clock. It plans and times programs with the two
/// profiles. Equal calls take equal times, to the picosecond, on every machine. If values are
/// wanted, another device runs the same calls to compute them.
///
/// One host thread uses it at a time. As on the hardware, a queue may use a sub-device that another
/// queue has used only in two cases: after that queue was finished, or after waiting for an event
/// that it recorded behind its last program there.
class EmulatedChip final : public ForwardingDevice {
 public:
  /// Throws Error for a number of command queues that the hardware does not have.
  explicit EmulatedChip(const Profiles& profiles, const DeviceOptions& options = {});
  ~EmulatedChip() override;

  int command_queues() const override;
  CommandQueue& command_queue(int index) override;
  /// Lets `time` pass for work of the host that no constant of a profile's calls describes.
  /// Timelines call it `name`, which must have static storage duration.
  void pass_host_time(SimTime time, std::string_view name);

  CoreGrid compute_grid() const;
  const Profiles& profiles() const;
  /// Returns what tensors leave of each core's L1 for circular buffers.
  Bytes l1_free() const;
  /// Returns the launches that `program` would be, in order, for explanations. They live as long as
  /// the device.
  std::span<const PlannedProgram> launches(const Program& program);
  /// Returns the last of these launches. For a matrix product, this is the product itself, whatever
  /// stands before or behind it.
  const PlannedProgram& explain(const Program& program);

 private:
  class Chip;
  explicit EmulatedChip(std::unique_ptr<Chip> chip);

  std::unique_ptr<Chip> chip_;
};

}  // namespace howard::chip
