// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "engines/device/forwarding_device.h"

namespace howard::training {

/// A device that runs each program on another device, waits, and checks what the program wrote. It
/// is slow and is used to find where the first NaN or infinity came from. It supports only what a
/// training step needs: programs, reads, writes and memory; anything else throws Error.
class FiniteCheck final : public ForwardingDevice {
 public:
  explicit FiniteCheck(Device& device) : ForwardingDevice(device) {}

  /// Says what first wrote a number that is not finite: "layernorm, program 17 of the step, in
  /// forward".
  const std::optional<std::string>& found() const { return found_; }
  /// Starts a step: programs are counted from 1 again.
  void begin_step() { program_ = 0; }

  void begin_phase(std::string_view phase) override { phase_ = phase; }

 private:
  void before(std::string_view what) override;
  void enqueue(const Program& program) override;
  bool is_finite(const Operand& operand);

  std::string phase_;
  int program_ = 0;
  std::optional<std::string> found_;
};

}  // namespace howard::training
