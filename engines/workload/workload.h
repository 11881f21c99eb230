// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engines/device/device.h"
#include "engines/program/tensor_spec.h"

namespace howard::workload {

/// The number of a tensor that a program makes: its place in Workload::tensors.
using TensorNumber = std::uint32_t;

struct TensorLine {
  TensorSpec spec;
  /// The tensor whose memory this one is in another shape; if absent, it has memory of its own.
  std::optional<TensorNumber> view_of;
};

/// An op as it was asked for, whatever its tensors are.
struct OpLine {
  std::string name;         ///< What the user called: "linear".
  std::string kernel;       ///< What the chip runs: "matmul" (launch.h).
  std::string attributes;   ///< The kernel's, as a JSON object: {"transpose_b":true}.
  bool by_analogy = false;  ///< The kernel is the nearest that the emulator has, not the op's own.
};

/// A call of an op on tensors.
struct CallLine {
  std::uint32_t op = 0;
  std::vector<TensorNumber> inputs, outputs;
  std::uint8_t queue = 0;
  std::uint8_t sub_device = 0;
};

/// Says what a command does. `what` is the number of a tensor, a call, an event, a trace, a name or
/// a list of sub-devices; for `python`, `ttnn`, `miss` and `compile` it is a count of calls.
enum class Step : std::uint8_t {
  make,
  release,
  write,
  read,
  call,
  finish,
  record_event,
  wait_for_event,
  begin_trace,
  end_trace,
  execute_trace,
  release_trace,
  python,        ///< Calls from the report's Python engine, for whose time the host is charged.
  begin_region,  ///< A part of the program that has a name.
  end_region,
  signpost,  ///< A place in the program that has a name.
  sub_devices,
  ttnn,     ///< Calls from ttnn's own Python layer.
  miss,     ///< First calls of programs whose kernels are compiled already.
  compile,  ///< First calls of programs whose kernels are not compiled.
};

struct Command {
  Step step{};
  std::uint8_t queue = 0;
  std::uint32_t what = 0;
};

/// Says what the host of a program did besides the work of its calls in C++.
struct HostTimes {
  SimTime ttnn_call;       ///< Calling an op through ttnn's own Python layer.
  SimTime program_miss;    ///< The first call of a program whose kernels are compiled already.
  SimTime kernel_compile;  ///< The first call of a program that compiles them.
};

/// Holds what a program asked of one device, in its order: enough to run it again on an emulated
/// chip. It has no values.
struct Workload {
  std::string source;  ///< Whose it is: "train.py".
  bool eth_dispatch = false;
  int queues = 1;
  HostTimes host;
  std::vector<TensorLine> tensors;
  std::vector<OpLine> ops;
  std::vector<CallLine> calls;
  std::vector<std::string> names;  ///< The names of regions and signposts.
  std::vector<std::vector<CoreRange>> sub_devices;
  std::vector<Command> commands;
};

/// Returns the tensor whose memory `tensor` uses.
TensorNumber root_of(const Workload& workload, TensorNumber tensor);

/// Says whether everything that was asked for has been waited for at the end.
bool ends_waiting(const Workload& workload);

}  // namespace howard::workload
