// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/autograd/calls.h"
#include "engines/chip/profiles/profile.h"
#include "engines/device/device.h"
#include "engines/ops/tensor.h"
#include "profiler/memory_recorder.h"

// Declared here so that this header does not need Python's headers.
namespace pybind11 __attribute__((visibility("hidden"))) {
  class module_;
}

namespace howard::python {

/// Keeps events. A device may record from two threads, but only one at a time.
class EventList final : public EventSink {
 public:
  void record(const TimelineEvent& event) override { events.push_back(event); }

  std::vector<TimelineEvent> events;
};

/// A device that Python has opened, together with everything it depends on.
class PythonDevice {
 public:
  /// Opens the host CPU.
  explicit PythonDevice(int threads);
  /// Opens the emulated chip. `holds_values` says whether the host CPU computes values for it.
  PythonDevice(const chip::ProfileChoice& profiles, chip::DispatchCoreType dispatch,
               bool holds_values);

  Device& device() { return *device_; }
  CommandQueue& queue() { return device_->command_queue(0); }
  const autograd::Calls& calls() const { return *calls_; }

  /// Says that Python calls an op; an emulated host adds the cost of that.
  void charge_call() { device_->host_work(HostWork::python_call, 1); }

  void start_recording();
  /// Returns the events since start_recording(), in the order of their recording. Throws Error if
  /// recording was not started.
  std::vector<TimelineEvent> stop_recording();

  /// Records what is allocated and released while it is open.
  profiler::MemoryRecorder& memory() { return memory_; }

 private:
  profiler::MemoryRecorder memory_;
  std::optional<chip::Profiles> profiles_;
  std::unique_ptr<Device> values_;
  std::unique_ptr<EventList> events_;
  std::unique_ptr<Device> device_;
  std::optional<autograd::Calls> calls_;
};

/// A tensor that Python holds. It keeps its device open.
struct PythonTensor {
  std::shared_ptr<PythonDevice> device;
  ops::Tensor tensor;  ///< Declared last, so that it is destroyed before the device.
};

/// Returns the shape of one to four dimensions. Throws Error for another number of them.
Shape shape_of(const std::vector<std::int64_t>& dimensions);

/// Parses "tile" or "row_major". Throws Error for another word.
Layout parse_layout(std::string_view word);

/// Adds Device, Tensor and the functions that open devices.
void bind_devices(pybind11::module_& module);
/// Adds the weights of files and the angles of rotary embeddings.
void bind_models(pybind11::module_& module);
/// Adds the functions and optimizers of TTML.
void bind_training(pybind11::module_& module);
/// Adds the ops.
void bind_ops(pybind11::module_& module);

}  // namespace howard::python
