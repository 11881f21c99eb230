// SPDX-License-Identifier: Apache-2.0
//
// Every constant of every profile counts: twice and half of it move the time of one of the points
// below in the direction that its meaning says, or the limit that it is.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/calibration/model.h"
#include "engines/ops/eltwise.h"
#include "engines/wormhole/contradictions.h"
#include "engines/wormhole/profiles.h"
#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using wormhole::Constant;
using wormhole::DispatchCoreType;
using wormhole::ProfileChoice;
using wormhole::ProfileConstants;
using wormhole::Profiles;
using wormhole::WormholeDevice;

/// Some times, or how much of something is possible, with given constants. What can not run is left
/// out, with any constants.
using Measure = std::function<std::vector<double>(const Profiles&)>;

// Points of experiments and rows of calibration tables.

/// The points of an experiment with these values of its axes: "matmul_sweep shape=128".
Measure experiment(const std::string& text) {
  return [words = split(text, ' ')](const Profiles& profiles) {
    const auto box = std::make_shared<const DevBox>(profiles, host::HostOptions{}, 1);
    ExperimentList list = emulated_experiments(box);
    list.push_back(op_list(box));
    const auto named =
        std::ranges::find_if(list, [&](const auto& one) { return one->name() == words.front(); });
    std::vector<harness::AxisOverride> axes;
    for (std::size_t i = 1; i < words.size(); ++i) {
      axes.push_back(harness::parse_axis_override(words[i]));
    }
    std::vector<double> times;
    for (const harness::PointResult& point : run_emulated(**named, std::move(axes))) {
      if (const auto* const time = point.find_metric("time")) times.push_back(time->value);
    }
    return times;
  };
}

Measure calibration_rows(const calibration::MeasurementTable& table) {
  const auto model = std::shared_ptr<const calibration::Model>(
      calibration::make_model(table, wormhole::load_profiles()));
  return [model, count = table.rows.size() * table.measured.size()](const Profiles& profiles) {
    std::vector<double> seconds(count);
    model->predict(profiles, seconds);
    return seconds;
  };
}

// Calls of a device.

Program square(Device& device, std::int64_t side) {
  const ops::Tensor in(device, {.shape = {side, side}});
  const ops::Tensor out(device, {.shape = {side, side}});
  return ops::eltwise(Eltwise::exp, in, out);
}

/// The host calls so often that its queue is full, and then works for itself.
Measure full_queue(DispatchCoreType dispatch) {
  return [dispatch](const Profiles& profiles) {
    WormholeDevice device(profiles, {.dispatch = dispatch});
    const Program program = square(device, 4096);
    for (int i = 0; i < 4000; ++i) device.command_queue(0).enqueue(program);
    device.host_work(HostWork::graph_node, 4'000'000);
    device.command_queue(0).finish();
    return std::vector{device.now().seconds()};
  };
}

std::vector<double> capture(const Profiles& profiles) {
  WormholeDevice device(profiles);
  const Program program = square(device, 32);
  device.command_queue(0).begin_trace_capture();
  device.command_queue(0).enqueue(program);
  device.command_queue(0).end_trace_capture();
  return {device.now().seconds()};
}

std::vector<double> transfers(const Profiles& profiles) {
  WormholeDevice device(profiles);
  const TensorSpec spec{.shape = {1024, 1024}};
  const ops::Tensor tensor(device, spec);
  std::vector<std::byte> values(static_cast<std::size_t>(spec.host_bytes().value()));
  device.command_queue(0).write_buffer(tensor.buffer(), values);
  device.command_queue(0).read_buffer(tensor.buffer(), values);
  return {device.now().seconds()};
}

// How much is possible.

/// How often `again` can be called, up to `most`, before it is an Error.
double count_until_refused(int most, const std::function<void(int)>& again) {
  for (int i = 0; i < most; ++i) {
    try {
      again(i);
    } catch (const Error&) {
      return i;
    }
  }
  return most;
}

std::vector<double> most_queues(const Profiles& profiles) {
  return {count_until_refused(
      10, [&](int i) { WormholeDevice device(profiles, {.command_queues = i + 1}); })};
}

std::vector<double> most_sub_devices(const Profiles& profiles) {
  WormholeDevice device(profiles);
  std::vector<CoreRange> cores;
  return {count_until_refused(40, [&](int i) {
    cores.push_back({i % 8, i / 8, i % 8, i / 8});
    device.set_sub_devices(cores);
  })};
}

std::vector<double> most_tensors(const Profiles& profiles) {
  WormholeDevice device(profiles);
  return {count_until_refused(100, [&](int) { device.allocate({.shape = {16384, 32768}}); })};
}

std::vector<double> most_traces(const Profiles& profiles) {
  WormholeDevice device(profiles);
  const Program program = square(device, 32);
  CommandQueue& queue = device.command_queue(0);
  return {count_until_refused(1000, [&](int) {
    queue.begin_trace_capture();
    for (int i = 0; i < 200; ++i) queue.enqueue(program);
    queue.end_trace_capture();
  })};
}

/// What any constant may move: times.
std::vector<Measure> all_times() {
  std::vector<Measure> times;
  for (const auto& table : calibration::built_in_measurements()) {
    times.push_back(calibration_rows(table));
  }
  times.insert(times.end(), {capture, transfers, full_queue(DispatchCoreType::worker),
                             full_queue(DispatchCoreType::eth)});
  for (const char* const point :
       {"matmul_sweep shape=128,2048,4096", "matmul_sweep shape=1024 fidelity=LoFi,HiFi4",
        "matmul_sweep shape=512 trace=yes dispatch=worker",
        "op_list ops=1024x512/layernorm/linear:2048/gelu/transpose/softmax/relu",
        "all_reduce kib=1024", "two_queues shape=512", "mlp_engines variant=as_published",
        "dispatch_gaps workload=mlp", "gpt2_full layers=1", "gpt2_trace layers=1",
        "multi_device workload=mlp devices=0+1+2+3+4+5+6+7",
        "multi_device workload=mlp devices=0+4"}) {
    times.push_back(experiment(point));
  }
  return times;
}

/// What more of a constant does.
enum class More { is_slower, is_faster, allows, forbids };

struct Meaning {
  More more{};
  Measure limit;  ///< Of what allows or forbids.
};

/// Counts and sizes, whose units do not say it.
const std::map<std::string, Meaning> kMeanings{
    {"tensix.columns", {More::is_faster, {}}},
    {"tensix.rows", {More::is_faster, {}}},
    {"grid.eth.rows", {More::is_faster, {}}},
    {"l1.capacity", {More::is_faster, {}}},
    {"l1.firmware", {More::is_slower, {}}},
    {"matrix.flops_per_cycle", {More::is_faster, {}}},
    {"queue.issue_entries.worker", {More::is_faster, {}}},
    {"queue.issue_entries.eth", {More::is_faster, {}}},
    {"dispatch.launch_ring", {More::is_faster, {}}},
    {"dispatch.configuration_ring", {More::is_faster, {}}},
    {"ttnn.binary_bytes", {More::is_slower, {}}},
    {"ttnn.matmul_arguments", {More::is_slower, {}}},
    {"ttnn.binary_arguments", {More::is_slower, {}}},
    {"ttnn.unary_arguments", {More::is_slower, {}}},
    {"ttnn.other_arguments", {More::is_slower, {}}},
    {"matmul.transposed_unpack", {More::is_slower, {}}},
    {"matmul.fuses_transposes", {More::is_faster, {}}},
    {"dram.capacity", {More::allows, most_tensors}},
    {"trace.region", {More::allows, most_traces}},
    {"trace.page", {More::forbids, most_traces}},
    {"queue.most", {More::allows, most_queues}},
    {"sub_device.most", {More::allows, most_sub_devices}},
};

Meaning meaning_of(const std::string& name, const Constant& constant) {
  constexpr auto kTimes = std::to_array<std::string_view>({"ps", "ns", "us", "ms", "cycles"});
  constexpr auto kRates = std::to_array<std::string_view>({"MHz", "GB/s", "B/cycle", "%"});
  if (std::ranges::find(kTimes, constant.unit) != kTimes.end()) return {More::is_slower, {}};
  if (std::ranges::find(kRates, constant.unit) != kRates.end()) return {More::is_faster, {}};
  const auto known = kMeanings.find(name);
  if (known != kMeanings.end()) return known->second;
  throw Error({.attempted = "say what more of a constant does",
               .value = name,
               .accepted = "a time, a rate, or an entry of kMeanings",
               .hint = ""});
}

class Constants : public ::testing::Test {
 protected:
  /// The constant times `factor`, whole if it was: less of 1 is none, which only a yes may be.
  static std::string changed(const std::string& name, const Constant& constant, double factor) {
    double value = constant.value * factor;
    if (constant.unit == "count") value = std::floor(value);
    return fmt::format("{}={:.12g}{}", name, value, constant.unit);
  }

  /// Whether any of `measures` has a value that is more (`up`) or less than with `as_is`.
  bool moves(const std::vector<Measure>& measures, const Profiles& as_is, const Profiles& changed,
             bool up) {
    return std::ranges::any_of(measures, [&](const Measure& measure) {
      const std::vector<double> before = measure(as_is);
      const std::vector<double> after = measure(changed);
      for (std::size_t i = 0; i < before.size() && before.size() == after.size(); ++i) {
        if (up ? after[i] > before[i] : after[i] < before[i]) return true;
      }
      return false;
    });
  }

  /// Why `factor` times the constant does not do what its meaning says; empty when it does.
  std::string fault(const ProfileChoice& choice, const std::string& name, double factor) {
    const ProfileConstants constants = load_constants(choice);
    const bool of_chip = constants.chip.contains(name);
    const Constant& constant = (of_chip ? constants.chip : constants.software).at(name);
    const Meaning meaning = meaning_of(name, constant);
    ProfileConstants other = constants;
    const std::string setting = changed(name, constant, factor);
    set_constant(other, setting);
    const bool more_is_more = meaning.more == More::is_slower || meaning.more == More::allows;
    try {
      const bool up = more_is_more == (factor > 1);
      const auto& measures = meaning.limit ? std::vector{meaning.limit} : times_;
      if (moves(measures, read_profiles(constants), read_profiles(other), up)) return "";
      return setting + " moves nothing in its direction";
    } catch (const wormhole::Contradiction& refusal) {
      const bool named = refusal.text().value.find(setting) != std::string::npos;
      return named ? "" : fmt::format("{}: {}", setting, refusal.what());
    }
  }

  const std::vector<Measure> times_ = all_times();
};

TEST_F(Constants, EachMovesATimeOrALimitInTheDirectionThatItsMeaningSays) {
  for (const std::string& profile : wormhole::built_in_profiles()) {
    const auto document = nlohmann::json::parse(wormhole::built_in_profile(profile));
    for (const auto& [name, entry] : document["constants"].items()) {
      for (const double factor : {0.5, 2.0}) {
        const auto start = std::chrono::steady_clock::now();
        EXPECT_EQ(fault({.profiles = {profile}, .settings = {}}, name, factor), "") << profile;
        const double s =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (s > 0.1) fmt::print("{} {} {:.2f}s\n", name, factor, s);
      }
    }
  }
}

}  // namespace
}  // namespace howard::experiments
