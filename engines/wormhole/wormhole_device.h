// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engines/device/device.h"
#include "engines/wormhole/matmul_cost.h"
#include "engines/wormhole/matmul_planner.h"
#include "engines/wormhole/profile.h"

namespace howard::wormhole {

/// How a matmul program would run: for explanations and reports.
struct MatmulExplanation {
  MatmulPlan plan;
  MatmulCost cost;
};

/// The emulated chip: a Device whose clock is virtual. It plans and times programs from the two
/// profiles and holds no values; equal calls give equal times to the picosecond, everywhere.
///
/// One host thread uses it at a time. Reading a buffer is an Error: there is nothing to read.
class WormholeDevice final : public Device {
 public:
  WormholeDevice(const Profiles& profiles, DispatchCoreType dispatch);
  ~WormholeDevice() override;

  std::string description() const override;
  BufferId allocate(const TensorSpec& spec) override;
  void release(BufferId buffer) override;
  CommandQueue& command_queue(int index) override;
  SimTime now() const override;
  void set_trace_sink(TraceSink* sink) override;

  CoreGrid compute_grid() const;
  /// `program` must be a matmul.
  MatmulExplanation explain(const Program& program) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace howard::wormhole
