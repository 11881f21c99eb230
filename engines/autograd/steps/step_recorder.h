// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engines/device/forwarding_device.h"
#include "engines/ops/tensor.h"

namespace howard::autograd {

/// Runs one training step on the given device and returns the loss, one number.
using StepFunction = std::function<ops::Tensor(Device&)>;

/// A device that records what is enqueued on it instead of running it, so that a step that is
/// written once can be planned and run many times. What is allocated on it has no memory yet: its
/// buffers are numbers that a plan replaces. Buffers of the device behind it keep their ids.
///
/// It must outlive the tensors that were allocated on it.
class StepRecorder final : public ForwardingDevice {
 public:
  /// A buffer that was allocated while recording.
  struct Buffer {
    TensorSpec spec;
    bool released = false;  ///< False if somebody outside of the step still wants its values.
    std::vector<std::byte> values;  ///< What the host wrote; empty if programs write it.
  };

  /// A phase of the step, named by begin_phase(). It lasts from program `first` to the next phase.
  struct Phase {
    std::string name;
    std::size_t first = 0;
  };

  /// Says what happens when the step reads a buffer.
  enum class Reads {
    refused,  ///< It throws Error, because a step that is run again consists of programs only.
    zeros,    ///< The buffer seems to hold zeros: the step is recorded only to be described.
  };

  explicit StepRecorder(Device& device, Reads reads = Reads::refused)
      : ForwardingDevice(device), reads_(reads) {}

  const std::vector<Program>& programs() const { return programs_; }
  const std::map<BufferId, Buffer>& buffers() const { return buffers_; }
  const std::vector<Phase>& phases() const { return phases_; }

  BufferId allocate(const TensorSpec& spec) override;
  void release(BufferId buffer) override;
  int command_queues() const override { return behind().command_queues(); }
  CommandQueue& command_queue(int) override { return *this; }
  void begin_phase(std::string_view phase) override;
  /// Host work is not recorded: it is done once, whatever the number of steps is.
  void host_work(HostWork, int) override {}

 private:
  /// Throws Error, because a step consists of programs only.
  void before(std::string_view what) override;
  void enqueue(const Program& program) override { programs_.push_back(program); }
  /// Throws Error for a buffer of the device behind this one: its values would be the same in each
  /// step.
  void write_buffer(BufferId buffer, std::span<const std::byte> values) override;
  void read_buffer(BufferId buffer, std::span<std::byte> values) override;
  void finish() override { before("finish a queue"); }

  Reads reads_;
  std::vector<Program> programs_;
  std::map<BufferId, Buffer> buffers_;
  std::vector<Phase> phases_;
};

}  // namespace howard::autograd
