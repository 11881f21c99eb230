// SPDX-License-Identifier: Apache-2.0
#include "python/module_device.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cctype>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"
#include "engines/program/whole_numbers.h"
#include "reports/findings/ttml_memory.h"

namespace py = pybind11;

namespace howard::python {

PythonDevice::PythonDevice(int threads)
    : device_(std::make_unique<host::HostDevice>(
          host::HostOptions{.threads = threads, .memory = &memory_})) {
  calls_.emplace(*device_);
}

PythonDevice::PythonDevice(const chip::ProfileChoice& profiles, chip::DispatchCoreType dispatch,
                           bool holds_values)
    : profiles_(chip::load_profiles(profiles)),
      values_(holds_values ? std::make_unique<host::HostDevice>() : nullptr),
      device_(std::make_unique<chip::EmulatedChip>(
          *profiles_,
          chip::DeviceOptions{.dispatch = dispatch, .values = values_.get(), .memory = &memory_})) {
  calls_.emplace(*device_);
}

void PythonDevice::start_recording() {
  queue().finish();
  auto events = std::make_unique<EventList>();
  device_->set_trace_sink(events.get());
  events_ = std::move(events);
}

std::vector<TimelineEvent> PythonDevice::stop_recording() {
  if (events_ == nullptr) {
    throw Error({.attempted = "stop recording events",
                 .value = "nothing is being recorded",
                 .hint = "start_recording()"});
  }
  queue().finish();
  device_->set_trace_sink(nullptr);
  return std::exchange(events_, nullptr)->events;
}

Layout parse_layout(std::string_view word) {
  if (word == "tile") return Layout::tile;
  if (word == "row_major") return Layout::row_major;
  throw Error({.attempted = "read a layout",
               .value = "'" + std::string(word) + "'",
               .accepted = "tile, row_major"});
}

Shape shape_of(const std::vector<std::int64_t>& dimensions) {
  switch (dimensions.size()) {
    case 1:
      return {1, dimensions[0]};
    case 2:
      return {dimensions[0], dimensions[1]};
    case 3:
      return {dimensions[0], dimensions[1], dimensions[2]};
    case 4:
      return {dimensions[0], dimensions[1], dimensions[2], dimensions[3]};
    default:
      throw Error({.attempted = "read a shape",
                   .value = std::to_string(dimensions.size()) + " dimensions",
                   .accepted = "one to four"});
  }
}

namespace {

using SharedDevice = std::shared_ptr<PythonDevice>;

chip::DispatchCoreType parse_dispatch(std::string_view word) {
  if (word == "worker") return chip::DispatchCoreType::worker;
  if (word == "eth") return chip::DispatchCoreType::eth;
  throw Error({.attempted = "open the emulated device",
               .value = "dispatch '" + std::string(word) + "'",
               .accepted = "worker, eth"});
}

/// Returns the four dimensions without leading ones, but at least two of them.
std::vector<std::int64_t> dimensions_of(const Shape& shape) {
  if (shape.outer() != 1) return {shape.outer(), shape.heads(), shape.rows(), shape.columns()};
  if (shape.heads() != 1) return {shape.heads(), shape.rows(), shape.columns()};
  return {shape.rows(), shape.columns()};
}

PythonTensor make(const SharedDevice& device, const TensorSpec& spec) {
  return {device, ops::Tensor(device->device(), spec)};
}

template <class To, class From>
std::vector<To> converted(const py::buffer_info& values) {
  const std::span from(static_cast<const From*>(values.ptr), static_cast<std::size_t>(values.size));
  std::vector<To> result;
  result.reserve(from.size());
  for (const From value : from) result.push_back(static_cast<To>(value));
  return result;
}

/// Throws Error unless rows follow each other without gaps.
void require_contiguous(const py::buffer_info& values) {
  py::ssize_t stride = values.itemsize;
  for (auto i = values.ndim; i-- > 0; stride *= values.shape[static_cast<std::size_t>(i)]) {
    const auto at = static_cast<std::size_t>(i);
    if (values.shape[at] > 1 && values.strides[at] != stride) {
      throw Error({.attempted = "copy a buffer to a tensor",
                   .value = "its elements do not lie row by row",
                   .hint = "a copy of it (numpy.ascontiguousarray)"});
    }
  }
}

bool is_integer(const py::buffer_info& values) {
  return std::string_view("bBhHiIlLqQ").find(values.format) != std::string_view::npos;
}

/// Returns integers as a tensor of a whole data type holds them.
std::vector<std::byte> whole_numbers_in(const py::buffer_info& values, DataType dtype) {
  const bool is_signed = std::islower(static_cast<unsigned char>(values.format[0])) != 0;
  const std::vector<std::int64_t> wide = [&] {
    switch (values.itemsize) {
      case 1:
        return is_signed ? converted<std::int64_t, std::int8_t>(values)
                         : converted<std::int64_t, std::uint8_t>(values);
      case 2:
        return is_signed ? converted<std::int64_t, std::int16_t>(values)
                         : converted<std::int64_t, std::uint16_t>(values);
      case 4:
        return is_signed ? converted<std::int64_t, std::int32_t>(values)
                         : converted<std::int64_t, std::uint32_t>(values);
      default:
        return converted<std::int64_t, std::int64_t>(values);
    }
  }();
  const auto size = static_cast<std::size_t>(element_bytes(dtype));
  std::vector<std::byte> bytes(wide.size() * size);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (wrapped(dtype, wide[i]) != wide[i]) {
      throw Error(
          {.attempted = "copy a buffer to a " + std::string(howard::name_of(dtype)) + " tensor",
           .value = std::to_string(wide[i]),
           .accepted = "numbers that " + std::string(howard::name_of(dtype)) + " has"});
    }
    write_whole(dtype, wide[i], bytes.data() + i * size);
  }
  return bytes;
}

/// Throws Error unless there are as many values as elements.
void require_as_many(const PythonTensor& tensor, std::int64_t values) {
  if (values == tensor.tensor.spec().shape.elements()) return;
  throw Error({.attempted = "transfer values of a tensor " + layout_text(tensor.tensor.spec()),
               .value = std::to_string(values) + " values",
               .accepted = "as many as it has elements"});
}

void write(const PythonTensor& to, const py::buffer& buffer) {
  const py::buffer_info values = buffer.request();
  require_contiguous(values);
  CommandQueue& queue = to.device->queue();
  if (to.tensor.spec().is_whole() && is_integer(values)) {
    require_as_many(to, values.size);
    queue.write_buffer(to.tensor.buffer(), whole_numbers_in(values, to.tensor.spec().dtype));
  } else if (values.format == "f") {
    autograd::write_values(
        queue, to.tensor,
        {static_cast<const float*>(values.ptr), static_cast<std::size_t>(values.size)});
  } else if (values.format == "d") {
    autograd::write_values(queue, to.tensor, converted<float, double>(values));
  } else {
    throw Error({.attempted = "copy a buffer to a " + std::string(name_of(to.tensor.spec().dtype)) +
                              " tensor",
                 .value = "elements of format '" + values.format + "'",
                 .accepted = "float32 ('f') or float64 ('d'); integers for whole data types"});
  }
}

PythonTensor from_buffer(const SharedDevice& device, const py::buffer& buffer,
                         std::string_view dtype, std::string_view layout) {
  const py::buffer_info values = buffer.request();
  const PythonTensor result =
      make(device, {.shape = shape_of({values.shape.begin(), values.shape.end()}),
                    .dtype = parse_data_type(dtype),
                    .layout = parse_layout(layout)});
  write(result, buffer);
  return result;
}

PythonTensor full(const SharedDevice& device, const std::vector<std::int64_t>& shape, float value,
                  std::string_view dtype) {
  const PythonTensor result =
      make(device, {.shape = shape_of(shape), .dtype = parse_data_type(dtype)});
  autograd::write_constant(device->queue(), result.tensor, value);
  return result;
}

/// Returns a memoryview of float32, or of whole numbers of the tensor's type, in its shape, over
/// bytes of its own.
py::object read(const PythonTensor& from) {
  const TensorSpec& spec = from.tensor.spec();
  const auto view = [&](std::span<const std::byte> bytes, std::string_view format) {
    const py::bytes own(
        std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    return py::object(
        py::memoryview(own).attr("cast")(format, py::tuple(py::cast(dimensions_of(spec.shape)))));
  };
  if (spec.is_real()) {
    const std::vector<float> values = autograd::read_values(from.device->queue(), from.tensor);
    return view(std::as_bytes(std::span(values)), "f");
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(spec.host_bytes().value()));
  from.device->queue().read_buffer(from.tensor.buffer(), bytes);
  return with_whole_type(spec.dtype, [&](auto type) {
    return view(bytes, py::format_descriptor<typename decltype(type)::type>::format());
  });
}

/// Returns the same as a NumPy array with its own memory.
py::object to_numpy(const PythonTensor& from) {
  try {
    return py::module_::import("numpy").attr("array")(read(from));
  } catch (py::error_already_set& failure) {
    if (!failure.matches(PyExc_ImportError)) throw;
    throw Error({.attempted = "give a tensor as a NumPy array",
                 .value = "NumPy is not installed",
                 .hint = "apt-get install python3-numpy, or read(), which gives a memoryview"});
  }
}

std::string text_of(const PythonTensor& tensor) {
  const TensorSpec& spec = tensor.tensor.spec();
  return "<howard.Tensor " + spec.shape.text() + " " + std::string(howard::name_of(spec.dtype)) +
         (spec.layout == Layout::row_major ? " row_major" : "") + " on " +
         std::string(tensor.device->device().description()) + ">";
}

std::string_view name_of(TrackKind kind) {
  switch (kind) {
    case TrackKind::host_thread:
      return "host_thread";
    case TrackKind::command_queue:
      return "command_queue";
    case TrackKind::dispatcher:
      return "dispatcher";
    case TrackKind::sub_device:
      return "sub_device";
    case TrackKind::core:
      return "core";
  }
  return "";
}

py::list events_of(const std::vector<TimelineEvent>& events) {
  py::list result;
  for (const TimelineEvent& event : events) {
    py::dict entry;
    entry["track"] = name_of(event.track.kind);
    entry["index"] = event.track.index;
    entry["name"] = event.name;
    entry["category"] = event.category;
    entry["start_ps"] = event.start.ps();
    entry["end_ps"] = event.end.ps();
    entry["program"] = event.program;
    result.append(std::move(entry));
  }
  return result;
}

void bind_recording(py::class_<PythonDevice, SharedDevice>& device) {
  device
      .def(
          "begin_memory",
          [](PythonDevice& self, const std::string& phase) { self.memory().open(phase); },
          py::arg("phase"),
          "Records what is allocated and released from now on, as of a phase of this name.")
      .def(
          "begin_memory_phase",
          [](PythonDevice& self, const std::string& phase) { self.memory().begin_phase(phase); },
          py::arg("phase"), "Names what is allocated and released from now on.")
      .def(
          "end_memory", [](PythonDevice& self) { self.memory().close(); },
          "Stops recording what is allocated and released.")
      .def(
          "memory_summary",
          [](PythonDevice& self) { return reports::ttml_memory_summary(self.memory().use()); },
          "Gives what was recorded as the text that TTML's MemoryUsageTracker prints.")
      .def("start_recording", &PythonDevice::start_recording, "Finishes, then records events.")
      .def(
          "stop_recording", [](PythonDevice& self) { return events_of(self.stop_recording()); },
          "Finishes and gives the events: dicts of track, index, name, category, start_ps,\n"
          "end_ps, program. Raises Error when nothing is being recorded.");
}

void bind_device_class(py::module_& module) {
  py::class_<PythonDevice, SharedDevice> device(module, "Device", "What executes ops, in order.");
  device.attr("__module__") = "howard";
  device
      .def_property_readonly("description",
                             [](PythonDevice& self) { return self.device().description(); })
      .def_property_readonly("holds_values",
                             [](PythonDevice& self) { return self.device().holds_values(); })
      .def(
          "tensor", &from_buffer, py::arg("values"), py::arg("dtype") = "bfloat16",
          py::arg("layout") = "tile",
          "A tensor with the values and the shape, of one to four dimensions, of a buffer: array,\n"
          "memoryview, NumPy array; float32 or float64, or integers for whole data types.\n\n"
          "dtype: bfloat16, float32, bfloat8_b, bfloat4_b, uint32, int32, uint16, uint8. layout:\n"
          "tile, row_major. Raises\n"
          "Error for any other, for a buffer whose rows do not follow each other without gaps, "
          "and\n"
          "when the tensor does not fit into the device's memory.")
      .def(
          "full", &full, py::arg("shape"), py::arg("value"), py::arg("dtype") = "bfloat16",
          "A tensor of one to four dimensions that the host fills: one write, no op. Raises Error\n"
          "for a dimension below 1, and when it does not fit into the device's memory.")
      .def(
          "finish", [](PythonDevice& self) { self.queue().finish(); },
          "Waits until everything enqueued has run. Raises Error while a trace is captured, and\n"
          "for what an op failed with.")
      .def(
          "now_ps", [](PythonDevice& self) { return self.device().now().ps(); },
          "The device's clock in picoseconds: virtual, or the steady clock.")
      .def(
          "begin_trace_capture", [](PythonDevice& self) { self.queue().begin_trace_capture(); },
          "From here on ops are recorded and not run. Raises Error when a trace is being captured\n"
          "already.")
      .def(
          "end_trace_capture",
          [](PythonDevice& self) { return std::uint64_t(self.queue().end_trace_capture()); },
          "The number of the trace. The tensors that it uses must be kept by the caller. Raises\n"
          "Error when none is being captured, or it does not fit into the device's region for\n"
          "traces.")
      .def(
          "execute_trace",
          [](PythonDevice& self, std::uint64_t trace) {
            self.queue().execute_trace(TraceId(trace));
          },
          py::arg("trace"),
          "Runs what was recorded, on what its tensors hold now. Raises Error for a number that "
          "is\n"
          "no trace's, and while one is captured.")
      .def(
          "release_trace",
          [](PythonDevice& self, std::uint64_t trace) {
            self.device().release_trace(TraceId(trace));
          },
          py::arg("trace"), "Forgets a trace. Raises Error for a number that is no trace's.");
  bind_recording(device);
}

}  // namespace

void bind_devices(py::module_& module) {
  bind_device_class(module);
  py::class_<PythonTensor> tensor(module, "Tensor", "A tensor on a device, shared by its copies.");
  tensor.attr("__module__") = "howard";
  tensor.def_property_readonly("device", [](const PythonTensor& self) { return self.device; })
      .def_property_readonly("shape",
                             [](const PythonTensor& self) {
                               return py::tuple(py::cast(dimensions_of(self.tensor.spec().shape)));
                             })
      .def_property_readonly(
          "dtype",
          [](const PythonTensor& self) { return howard::name_of(self.tensor.spec().dtype); })
      .def("read", &read,
           "Finishes; the values as a memoryview of float32, or of whole numbers of the tensor's\n"
           "type, in its shape without leading dimensions of 1, but two at least. Zeros on a\n"
           "device that holds no values. Raises Error\n"
           "while a trace is captured, for block formats, and for what a queued op failed with.")
      .def("numpy", &to_numpy,
           "The values as a NumPy array, as read() has them. Raises Error as read().")
      .def(
          "__array__",
          [](const PythonTensor& self, const py::object& dtype) {
            const py::object values = to_numpy(self);
            return dtype.is_none() ? values : values.attr("astype")(dtype);
          },
          py::arg("dtype") = py::none(), "For numpy.asarray(tensor).")
      .def("write", &write, py::arg("values"),
           "Copies a buffer of as many values to the tensor, row by row: float32 or float64, or\n"
           "integers to whole data types. Raises Error for anything else.")
      .def("__repr__", &text_of);
  module.def(
      "open_host", [](int threads) { return std::make_shared<PythonDevice>(threads); },
      py::arg("threads") = 0,
      "The host CPU; 0 threads: all that the process may use. Raises Error for fewer.");
  module.def(
      "open_emulated",
      [](std::string_view dispatch, bool values, std::vector<std::string> profiles,
         std::vector<std::string> settings) {
        return std::make_shared<PythonDevice>(
            chip::ProfileChoice{std::move(profiles), std::move(settings)}, parse_dispatch(dispatch),
            values);
      },
      py::arg("dispatch") = "worker", py::arg("values") = true,
      py::arg("profiles") = std::vector<std::string>{},
      py::arg("settings") = std::vector<std::string>{},
      "The emulated Wormhole; without values it keeps the time only.\n\n"
      "dispatch: worker or eth cores. profiles: built-in names or files, in place of the default\n"
      "ones. settings: single constants, as host.op_call=20us. Raises Error for any that there is\n"
      "not.");
}

}  // namespace howard::python
