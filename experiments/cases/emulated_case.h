// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <utility>

#include "engines/chip/emulated_chip.h"
#include "harness/experiment.h"

namespace howard::experiments {

/// Returns two sub-devices, the left and the right half of the columns. An odd column is left out.
inline std::array<CoreRange, 2> column_halves(CoreGrid all) {
  const int half = all.columns / 2;
  return {CoreRange{0, 0, half - 1, all.rows - 1}, CoreRange{half, 0, 2 * half - 1, all.rows - 1}};
}

/// A case on an emulated chip of its own; the virtual clock of the chip times it.
class EmulatedCase : public harness::Case {
 public:
  SimTime now() const override { return device_->now(); }
  void set_trace_sink(EventSink* sink) override { device_->set_trace_sink(sink); }

 protected:
  explicit EmulatedCase(std::unique_ptr<chip::EmulatedChip> device) : device_(std::move(device)) {}

  chip::EmulatedChip& device() const { return *device_; }
  CommandQueue& queue(int index = 0) const { return device_->command_queue(index); }

 private:
  std::unique_ptr<chip::EmulatedChip> device_;
};

}  // namespace howard::experiments
