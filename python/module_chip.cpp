// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engines/chip/emulated_chip.h"
#include "engines/chip/profiles/profiles.h"
#include "engines/program/eltwise.h"
#include "engines/program/fields.h"
#include "engines/program/program_config.h"
#include "engines/program/sharding.h"
#include "engines/program/tensor_spec.h"
#include "engines/workload/launch.h"
#include "engines/workload/player.h"
#include "engines/workload/workload_json.h"
#include "experiments/cases/workload_case.h"
#include "python/module_ttnn.h"

namespace py = pybind11;

namespace howard::python {
namespace {

using workload::Command;
using workload::Step;
using workload::TensorNumber;

/// The shards of a tensor as Python gives them: the layout ("height", "width", "block"), the
/// columns and rows of the grid, those of a shard in elements in the order rows, columns, and
/// whether they go down the columns of the grid first.
using GivenShards = std::tuple<std::string, int, int, std::int64_t, std::int64_t, bool>;

Sharding sharding_of(const GivenShards& given) {
  const auto& [layout, columns, rows, high, wide, column_major] = given;
  return {.layout = layout == "height"  ? ShardLayout::height
                    : layout == "width" ? ShardLayout::width
                                        : ShardLayout::block,
          .grid = {columns, rows},
          .rows = high,
          .columns = wide,
          .column_major = column_major};
}

/// An emulated chip that keeps what is asked of it.
class RecordingChip {
 public:
  RecordingChip(const std::vector<std::string>& profiles, const std::vector<std::string>& settings,
                bool eth, int queues, std::string source)
      : device_(chip::load_profiles({profiles, settings}),
                {.dispatch = eth ? chip::DispatchCoreType::eth : chip::DispatchCoreType::worker,
                 .command_queues = queues}) {
    workload_.source = std::move(source);
    workload_.eth_dispatch = eth;
    workload_.queues = queues;
    const chip::ScriptTimes& times = device_.profiles().software.script;
    workload_.host = {times.ttnn_call, times.program_miss, times.kernel_compile};
  }

  /// Error, in ttnn's words, for shards that are not legal, and when there is no room.
  TensorNumber make(const std::vector<std::int64_t>& shape, std::string_view dtype, bool row_major,
                    bool l1, const std::optional<GivenShards>& shards) {
    const TensorSpec spec = spec_of(shape, dtype, row_major, l1, shards);
    require_legal_shards(spec);
    workload_.tensors.push_back({.spec = spec, .view_of = {}});
    const auto tensor = static_cast<TensorNumber>(workload_.tensors.size() - 1);
    try {
      run({Step::make, 0, tensor});
    } catch (...) {
      workload_.tensors.pop_back();
      throw;
    }
    return tensor;
  }

  TensorNumber view(TensorNumber of, const std::vector<std::int64_t>& shape, std::string_view dtype,
                    bool row_major, bool l1, const std::optional<GivenShards>& shards) {
    const TensorNumber root = workload::root_of(workload_, of);
    workload_.tensors.push_back(
        {.spec = spec_of(shape, dtype, row_major, l1, shards), .view_of = root});
    return static_cast<TensorNumber>(workload_.tensors.size() - 1);
  }

  std::uint32_t op(std::string name, std::string kernel, std::string attributes, bool by_analogy) {
    static_cast<void>(parse_attributes(kernel, attributes));
    workload_.ops.push_back(
        {std::move(name), std::move(kernel), std::move(attributes), by_analogy});
    return static_cast<std::uint32_t>(workload_.ops.size() - 1);
  }

  void call(std::uint32_t op, std::vector<TensorNumber> inputs, std::vector<TensorNumber> outputs,
            int queue, int sub_device) {
    workload_.calls.push_back({.op = op,
                               .inputs = std::move(inputs),
                               .outputs = std::move(outputs),
                               .queue = static_cast<std::uint8_t>(queue),
                               .sub_device = static_cast<std::uint8_t>(sub_device)});
    if (captured_) {
      *captured_ +=
          experiments::recorded_bytes(device_, player_.program_of(workload_.calls.back()).value());
    }
    try {
      run({Step::call, 0, static_cast<std::uint32_t>(workload_.calls.size() - 1)});
    } catch (...) {
      workload_.calls.pop_back();
      throw;
    }
  }

  /// Error, in ttnn's words, unless ttnn takes the configuration of `op` for a tensor and a grid.
  void require_config(std::string_view op, std::string_view config, TensorNumber tensor,
                      const std::pair<int, int>& grid) const {
    require_program_config(op, config, workload_.tensors.at(tensor).spec,
                           {grid.first, grid.second});
  }

  void step(Step step, std::uint32_t what, int queue) {
    run({step, static_cast<std::uint8_t>(queue), what});
    if (step == Step::begin_trace) captured_ = Bytes();
  }

  /// Ends a capture; what the trace takes of the region for traces.
  std::int64_t end_trace(std::uint32_t trace, int queue) {
    const std::optional<Bytes> size = std::exchange(captured_, std::nullopt);
    step(Step::end_trace, trace, queue);
    return size.value_or(Bytes()).value();
  }

  void named(Step step, const std::string& name) {
    const auto found = std::ranges::find(workload_.names, name);
    const auto number = static_cast<std::uint32_t>(found - workload_.names.begin());
    if (found == workload_.names.end()) workload_.names.push_back(name);
    run({step, 0, number});
  }

  void divide(const std::vector<std::array<int, 4>>& ranges) {
    auto& list = workload_.sub_devices.emplace_back();
    for (const auto& r : ranges) list.push_back({r[0], r[1], r[2], r[3]});
    run({Step::sub_devices, 0, static_cast<std::uint32_t>(workload_.sub_devices.size() - 1)});
  }

  std::int64_t now_ps() const { return device_.now().ps(); }
  std::pair<int, int> grid() const {
    return {device_.compute_grid().columns, device_.compute_grid().rows};
  }
  std::string json() const { return to_json(workload_); }
  std::uint64_t calls() const { return player_.calls(); }
  /// Whether nothing was asked for since it was last waited for.
  bool is_finished() const { return ends_waiting(workload_); }
  std::string description() const { return device_.description(); }

  /// A tensor as Python describes it.
  static TensorSpec spec_of(const std::vector<std::int64_t>& d, std::string_view dtype,
                            bool row_major, bool l1, const std::optional<GivenShards>& shards) {
    if (d.size() != 4) {
      throw Error({.attempted = "make a tensor on the chip",
                   .value = std::to_string(d.size()) + " dimensions",
                   .accepted = "4"});
    }
    TensorSpec spec{.shape = {d[0], d[1], d[2], d[3]},
                    .dtype = parse_data_type(dtype),
                    .layout = row_major ? Layout::row_major : Layout::tile,
                    .storage = l1 ? Storage::l1 : Storage::dram};
    if (shards) spec.sharding = sharding_of(*shards);
    return spec;
  }

 private:
  void run(const Command& command) {
    player_.run(command);
    workload_.commands.push_back(command);
  }

  workload::Workload workload_;
  chip::EmulatedChip device_;
  workload::Player player_{
      device_, workload_, {.pass = [this](SimTime time, std::string_view name) {
        device_.pass_host_time(time, name);
      }}};
  std::optional<Bytes> captured_;  ///< Of the trace that is being captured; absent: none is.
};

void bind_steps(py::class_<RecordingChip>& chip) {
  const auto add = [&](const char* name, Step step) {
    chip.def(
        name,
        [step](RecordingChip& self, std::uint32_t what, int queue) {
          self.step(step, what, queue);
        },
        py::arg("what") = 0, py::arg("queue") = 0);
  };
  add("release", Step::release);
  add("write", Step::write);
  add("read", Step::read);
  add("finish", Step::finish);
  add("record_event", Step::record_event);
  add("wait_for_event", Step::wait_for_event);
  add("begin_trace", Step::begin_trace);
  add("execute_trace", Step::execute_trace);
  add("release_trace", Step::release_trace);
  add("python", Step::python);
  add("ttnn", Step::ttnn);
  add("miss", Step::miss);
  add("compile", Step::compile);
  add("end_region", Step::end_region);
}

}  // namespace

void bind_chip(py::module_& module) {
  py::class_<RecordingChip> chip(module, "Chip",
                                 "An emulated chip that keeps what is asked of it.");
  chip.def(py::init<std::vector<std::string>, std::vector<std::string>, bool, int, std::string>())
      .def("make", &RecordingChip::make)
      .def("view", &RecordingChip::view)
      .def("op", &RecordingChip::op)
      .def("call", &RecordingChip::call)
      .def("require_config", &RecordingChip::require_config)
      .def("begin_region", [](RecordingChip& self,
                              const std::string& name) { self.named(Step::begin_region, name); })
      .def("signpost",
           [](RecordingChip& self, const std::string& name) { self.named(Step::signpost, name); })
      .def("divide", &RecordingChip::divide)
      .def("end_trace", &RecordingChip::end_trace)
      .def("now_ps", &RecordingChip::now_ps)
      .def("grid", &RecordingChip::grid)
      .def("json", &RecordingChip::json)
      .def("calls", &RecordingChip::calls)
      .def("is_finished", &RecordingChip::is_finished)
      .def("description", &RecordingChip::description);
  bind_steps(chip);
  module.def("chip_facts", [](const std::vector<std::string>& profiles,
                              const std::vector<std::string>& settings) {
    const chip::ChipProfile profile = chip::load_profiles({profiles, settings}).chip;
    py::dict facts;
    facts["name"] = profile.name;
    facts["architecture"] = profile.architecture;
    facts["dram_banks"] = profile.dram_banks;
    facts["dram_bytes"] = profile.dram_capacity.value();
    return facts;
  });
  module.def("kernel_names", &workload::kernel_names);
  module.def("shard_fault", [](const std::vector<std::int64_t>& shape, std::string_view dtype,
                               bool row_major, const GivenShards& shards) {
    try {
      require_legal_shards(RecordingChip::spec_of(shape, dtype, row_major, true, shards));
      return std::optional<std::string>();
    } catch (const Error& fault) {
      return std::optional<std::string>(fault.what());
    }
  });
  module.def("elementwise_values", [] {
    std::map<std::string_view, std::tuple<int, std::string_view, bool>> values;
    for (const EltwiseEntry& entry : eltwise_catalogue()) {
      values.emplace(entry.name, std::tuple(entry.values, entry.nearest, entry.takes_whole));
    }
    return values;
  });
}

}  // namespace howard::python
