// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "engines/wormhole/wormhole_device.h"
#include "harness/experiment.h"

namespace howard::experiments {

/// A case on an emulated chip of its own, which it times by the chip's clock.
class EmulatedCase : public harness::Case {
 public:
  SimTime now() const override { return device_->now(); }
  void set_trace_sink(TraceSink* sink) override { device_->set_trace_sink(sink); }

 protected:
  explicit EmulatedCase(std::unique_ptr<wormhole::WormholeDevice> device)
      : device_(std::move(device)) {}

  wormhole::WormholeDevice& device() const { return *device_; }
  CommandQueue& queue(int index = 0) const { return device_->command_queue(index); }

 private:
  std::unique_ptr<wormhole::WormholeDevice> device_;
};

}  // namespace howard::experiments
