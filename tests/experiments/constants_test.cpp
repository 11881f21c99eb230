// SPDX-License-Identifier: Apache-2.0
//
// Every constant of every profile counts. Twice and half of it move the time of one of the points
// below in the direction that its meaning says, or the limit that it is.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/chip/calibration/model.h"
#include "engines/chip/calibration/steady_state.h"
#include "engines/chip/chip_links.h"
#include "engines/chip/kernels/collective/collective.h"
#include "engines/chip/kernels/plan/footprint.h"
#include "engines/chip/kernels/planner.h"
#include "engines/chip/profiles/profiles.h"
#include "engines/ops/catalogue.h"
#include "engines/ops/tensor.h"
#include "engines/ops/training.h"
#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using chip::Constant;
using chip::DispatchCoreType;
using chip::EmulatedChip;
using chip::ProfileConstants;
using chip::Profiles;

/// Returns some times, or how much of something is possible, with given constants. What cannot run
/// is left out, with any constants.
using Measure = std::function<std::vector<double>(const Profiles&)>;

// The following are points of experiments and rows of calibration tables.

/// Returns the points of an experiment with these values of its axes: "matmul_sweep shape=128".
Measure experiment(const std::string& text) {
  return [words = split(text, ' ')](const Profiles& profiles) {
    const auto box = std::make_shared<const DevBox>(profiles, host::HostOptions{}, 1);
    const auto named = make_experiment(words.front(), box);
    std::vector<harness::AxisOverride> axes;
    for (std::size_t i = 1; i < words.size(); ++i) {
      axes.push_back(harness::parse_axis_override(words[i]));
    }
    std::vector<double> times;
    for (const harness::PointResult& point : run_emulated(*named, std::move(axes))) {
      if (const auto* const time = point.find_metric("time")) times.push_back(time->value);
    }
    return times;
  };
}

Measure calibration_rows(const calibration::MeasurementTable& table) {
  const auto model = std::shared_ptr<const calibration::Model>(calibration::make_model(table));
  return [model, count = table.rows.size() * table.measured.size()](const Profiles& profiles) {
    std::vector<double> seconds(count);
    model->predict(profiles, seconds);
    return seconds;
  };
}

// The following are calls of a device.

/// Holds a program with its operands.
struct Exp {
  Exp(Device& device, std::int64_t side)
      : in(device, {.shape = {side, side}}),
        out(device, {.shape = {side, side}}),
        program(make_program(eltwise_of(Eltwise::exp), {in}, {out})) {}
  ops::Tensor in, out;
  Program program;
};

/// The host calls so often that its queue is full, and then works by itself.
Measure full_queue(DispatchCoreType dispatch) {
  return [dispatch](const Profiles& profiles) {
    EmulatedChip device(profiles, {.dispatch = dispatch});
    const Exp exp(device, 4096);
    for (int i = 0; i < 4000; ++i) device.command_queue(0).enqueue(exp.program);
    device.host_work(HostWork::graph_node, 4'000'000);
    device.command_queue(0).finish();
    return std::vector{device.now().seconds()};
  };
}

std::vector<double> capture(const Profiles& profiles) {
  EmulatedChip device(profiles);
  const Exp exp(device, 32);
  device.command_queue(0).begin_trace_capture();
  device.command_queue(0).enqueue(exp.program);
  device.command_queue(0).end_trace_capture();
  return {device.now().seconds()};
}

std::vector<double> transfers(const Profiles& profiles) {
  EmulatedChip device(profiles);
  const TensorSpec spec{.shape = {1024, 1024}};
  const ops::Tensor tensor(device, spec);
  std::vector<std::byte> values(static_cast<std::size_t>(spec.host_bytes().value()));
  device.command_queue(0).write_buffer(tensor.buffer(), values);
  device.command_queue(0).read_buffer(tensor.buffer(), values);
  return {device.now().seconds()};
}

std::vector<double> profiled(const Profiles& profiles) {
  EmulatedChip device(profiles, {.profiled = true});
  const Exp exp(device, 32);
  device.command_queue(0).enqueue(exp.program);
  device.command_queue(0).finish();
  return {device.now().seconds()};
}

// The following say how much is possible.

/// Returns how often `again` can be called, up to `most`, before it is an Error.
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
      10, [&](int i) { EmulatedChip device(profiles, {.command_queues = i + 1}); })};
}

std::vector<double> most_sub_devices(const Profiles& profiles) {
  EmulatedChip device(profiles);
  std::vector<CoreRange> cores;
  return {count_until_refused(40, [&](int i) {
    cores.push_back({i % 8, i / 8, i % 8, i / 8});
    device.set_sub_devices(cores);
  })};
}

std::vector<double> most_tensors(const Profiles& profiles) {
  EmulatedChip device(profiles);
  return {count_until_refused(100, [&](int) { device.allocate({.shape = {16384, 32768}}); })};
}

std::vector<double> most_traces(const Profiles& profiles) {
  EmulatedChip device(profiles);
  const Exp exp(device, 32);
  CommandQueue& queue = device.command_queue(0);
  return {count_until_refused(1000, [&](int) {
    queue.begin_trace_capture();
    for (int i = 0; i < 200; ++i) queue.enqueue(exp.program);
    queue.end_trace_capture();
  })};
}

/// Returns times of kernels of ops, because no experiment has all ops.
std::vector<double> kernels(const Profiles& profiles) {
  EmulatedChip device(profiles);
  std::vector<double> times;
  for (const char* const text :
       {"sqrt 1024x1024", "rsqrt 1024x1024", "reciprocal 1024x1024", "erf 1024x1024",
        "transpose 1024x1024", "softmax 1024x1024", "attention 4x256x64 4x256x64 4x256x64",
        "attention:approximate=false 4x256x64 4x256x64 4x256x64",
        "sdpa_fw 4x256x64 4x256x64 4x256x64", "matmul:packer_accumulates=0 1024x1024 1024x1024",
        "argmax 32x4096 row_major", "add:older 1024x1024 1x1024", "topk 32x16384",
        "paged_update_cache 1x32x8x128 32x8x128x128 bfloat8_b",
        "sampling 32x256 32x256 row_major uint32",
        "sparse_matmul:used=1 1x1x32x64 1x8x64x64 1x1x1x8 row_major"}) {
    const Program program = ops::parse_program(text, DataType::bfloat16);
    times.push_back(device.explain(program).kernel.total.seconds());
  }
  for (const EltwiseEntry& entry : eltwise_catalogue()) {
    const std::vector<Operand> values(static_cast<std::size_t>(entry.values),
                                      TensorSpec{.shape = {1024, 1024}});
    times.push_back(device
                        .explain({.name = entry.name,
                                  .attributes = EltwiseAttributes{.function = entry.function},
                                  .inputs = values,
                                  .outputs = {TensorSpec{.shape = {1024, 1024}}}})
                        .kernel.total.seconds());
  }
  const ops::Tensor near(device, {.shape = {1024, 1024}, .storage = Storage::l1});
  times.push_back(device.explain(make_program(eltwise_of(Eltwise::add), {near, near}, {near}))
                      .kernel.total.seconds());
  const ops::Tensor x(device, {.shape = {1024, 1024}});
  const Window window{.height = 32, .width = 32, .size = {2, 2}, .stride = {2, 2}};
  for (const DataType dtype : {DataType::bfloat16, DataType::bfloat8_b}) {
    const Operand images{TensorSpec{.shape = {1024, 32}, .dtype = dtype}};
    const Operand weights{TensorSpec{.shape = {128, 512}, .dtype = DataType::bfloat4_b}};
    const Operand result{TensorSpec{.shape = {256, 512}}};
    const Conv2dAttributes conv{.window = window, .cores = 8};
    times.push_back(
        device.explain(make_program(conv, {images, weights}, {result})).kernel.total.seconds());
  }
  // Few weights, so that what a core prepares of its images counts.
  const Window around{.height = 32, .width = 32, .size = {3, 3}, .padding = {1, 1, 1, 1}};
  for (const DataType dtype : {DataType::bfloat16, DataType::bfloat8_b}) {
    const Operand images{TensorSpec{.shape = {1024, 32}}}, weights{TensorSpec{.shape = {288, 32}}};
    const Operand result{TensorSpec{.shape = {1024, 32}, .dtype = dtype}};
    const Conv2dAttributes conv{.window = around, .cores = 1};
    times.push_back(
        device.explain(make_program(conv, {images, weights}, {result})).kernel.total.seconds());
  }
  const Operand image{TensorSpec{.shape = {1024, 32}}}, pooled{TensorSpec{.shape = {256, 32}}};
  times.push_back(
      device.explain(make_program(Pool2dAttributes{.window = window}, {image}, {pooled}))
          .kernel.total.seconds());
  times.push_back(device.explain(ops::adamw(x, x, {x, x}, {})).kernel.total.seconds());
  const Operand rows{TensorSpec{.shape = {32, 2048}, .layout = Layout::row_major}};
  const Operand every_second{TensorSpec{.shape = {32, 1024}, .layout = Layout::row_major}};
  times.push_back(device
                      .explain(make_program(SliceAttributes{.begins = {}, .steps = {1, 1, 1, 2}},
                                            {rows}, {every_second}))
                      .kernel.total.seconds());
  return times;
}

/// Returns times of a product whose weights' columns lie over the banks of the DRAM. Small tiles
/// wait for the core that asks for them.
std::vector<double> products_of_banks(const Profiles& profiles) {
  const Sharding banks{.layout = ShardLayout::width, .grid = {12, 1}, .rows = 1024, .columns = 256};
  const TensorSpec a{.shape = {128, 1024}}, c{.shape = {128, 2048}};
  const TensorSpec b{.shape = {1024, 2048}, .dtype = DataType::bfloat4_b, .sharding = banks};
  const MatmulConfig config{.kind = MatmulKind::multicast_2d,
                            .grid = {8, 4},
                            .per_core_m = 1,
                            .per_core_n = 8,
                            .in0_block_w = 4,
                            .out_block_h = 1,
                            .out_block_w = 8};
  const Program program = make_program(MatmulAttributes{.config = config}, {a, b}, {c});
  return {plan_program(program, {8, 4}, profiles).kernel.total.seconds()};
}

/// Runs short programs behind a long one, which are written ahead as far as the rings have room.
std::vector<double> programs_ahead(const Profiles& profiles) {
  std::vector<double> periods;
  for (const Bytes binary : {Bytes(256), Bytes(13000)}) {
    const chip::Footprint footprint{.binary_bytes = binary};
    const chip::Launch launch{
        .dispatch = dispatch_time(footprint, DispatchCoreType::worker, profiles.software),
        .go = go_time(footprint, profiles.software),
        .configuration = configuration_bytes(footprint)};
    std::vector<chip::Launch> step(30, launch);
    step.front().kernel = SimTime::microseconds(1000);
    periods.push_back(calibration::steady_period(step, profiles.software).seconds());
  }
  return periods;
}

/// Returns times of chips that exchange something, by their links and through their hosts.
std::vector<double> several_chips(const Profiles& profiles) {
  std::vector<double> times{chip::message_time(profiles, Bytes(1 << 20)).seconds()};
  // Packets of bfloat8_b, which are small for what a link carries.
  for (const LinkUse& use :
       {LinkUse{.workers = 1}, LinkUse{.workers = 8}, LinkUse{.ring = true, .workers = 8}}) {
    const chip::ChipLine line{4, 3, Bytes(1 << 22), use, Bytes(2176)};
    times.push_back(all_gather_time(profiles.software.collectives, line).seconds());
  }
  chip::ChipLine ring{4, 3, Bytes(1 << 22), {.ring = true}};
  times.push_back(reduce_scatter_time(profiles.software.collectives, ring).seconds());
  ring.is_prepared = true;
  times.push_back(all_gather_time(profiles.software.collectives, ring).seconds());
  const chip::ChipLine line{4, 3, Bytes(1 << 22)};
  times.push_back(all_to_all_time(profiles.software.collectives, line, Bytes(4096)).seconds());
  EmulatedChip device(chip::of_mesh(profiles, 2));
  const Exp exp(device, 32);
  for (int i = 0; i < 10; ++i) device.command_queue(0).enqueue(exp.program);
  device.command_queue(0).finish();
  times.push_back(device.now().seconds());
  return times;
}

/// Returns everything that any constant may move.
std::vector<Measure> all_times() {
  std::vector<Measure> times{kernels,   products_of_banks, programs_ahead, capture,
                             transfers, profiled,          several_chips};
  for (const auto& table : calibration::built_in_measurements()) {
    times.push_back(calibration_rows(table));
  }
  times.push_back(calibration_rows(calibration::shard_measurements()));
  for (const char* const points :
       {"matmul_sweep shape=128,2048,4096,2048x4096x2304",
        "matmul_sweep shape=1024 fidelity=LoFi,HiFi4", "matmul_sweep shape=512 trace=yes",
        "matmul_sweep shape=2048x2080x2048 dtype=bfloat8_b", "all_reduce kib=1024",
        "all_reduce devices=4+6", "core_grid", "two_queues shape=512", "mlp_engines",
        "dispatch_gaps workload=mlp", "gpt2_full layers=1", "gpt2_trace layers=1"}) {
    times.push_back(experiment(points));
  }
  times.push_back(full_queue(DispatchCoreType::worker));
  times.push_back(full_queue(DispatchCoreType::eth));
  return times;
}

/// Says what more of a constant does.
enum class More { is_slower, is_faster, allows, forbids };

struct Meaning {
  More more{};
  Measure limit;  ///< The limit, if it allows or forbids.
};

/// Lists counts and sizes, whose units do not say what more of them does.
const std::map<std::string, Meaning>& meanings() {
  static const std::map<std::string, Meaning> known{
      {"tensix.columns", {More::is_faster, {}}},
      {"tensix.rows", {More::is_faster, {}}},
      {"grid.eth.rows", {More::is_faster, {}}},
      {"grid.dispatch_takes_row", {More::is_faster, {}}},
      {"unpack.shared", {More::is_slower, {}}},
      {"l1.capacity", {More::is_faster, {}}},
      {"l1.firmware", {More::is_slower, {}}},
      {"matrix.flops_per_cycle", {More::is_faster, {}}},
      {"queue.issue_entries.worker", {More::is_faster, {}}},
      {"queue.issue_entries.eth", {More::is_faster, {}}},
      {"dispatch.launch_ring", {More::is_faster, {}}},
      {"dispatch.configuration_ring", {More::is_faster, {}}},
      {"ttnn.binary_bytes", {More::is_slower, {}}},
      {"ttnn.matmul_binary_bytes", {More::is_slower, {}}},
      {"ttnn.matmul_arguments", {More::is_slower, {}}},
      {"ttnn.binary_arguments", {More::is_slower, {}}},
      {"ttnn.unary_arguments", {More::is_slower, {}}},
      {"ttnn.other_arguments", {More::is_slower, {}}},
      {"matmul.transposed_unpack", {More::is_slower, {}}},
      {"matmul.fuses_transposes", {More::is_faster, {}}},
      {"matmul.legacy_selection", {More::is_slower, {}}},
      {"dram.banks", {More::is_faster, {}}},
      {"dram.crowding", {More::is_slower, {}}},
      {"dram.crowding_steps", {More::is_slower, {}}},
      {"dram.blocking_writes", {More::is_faster, {}}},
      {"dram.head_start", {More::is_faster, {}}},
      {"tiles.interference", {More::is_slower, {}}},
      {"dram.capacity", {More::allows, most_tensors}},
      {"trace.region", {More::allows, most_traces}},
      {"trace.page", {More::forbids, most_traces}},
      {"queue.most", {More::allows, most_queues}},
      {"sub_device.most", {More::allows, most_sub_devices}},
  };
  return known;
}

Meaning meaning_of(const std::string& name, const Constant& constant) {
  static const std::set<std::string> times{"ps", "ns", "us", "ms", "cycles"};
  static const std::set<std::string> rates{"MHz", "GB/s", "B/cycle", "%"};
  if (meanings().contains(name)) return meanings().at(name);
  if (times.contains(constant.unit)) return {More::is_slower, {}};
  if (rates.contains(constant.unit)) return {More::is_faster, {}};
  return meanings().at(name);  // a new count or size has to say what more of it does
}

enum class Outcome { moves, is_refused, does_nothing };

/// Returns whether one of `before` became more (`up`) or less.
bool any_moved(const std::vector<double>& before, const std::vector<double>& after, bool up) {
  for (std::size_t i = 0; i < before.size() && before.size() == after.size(); ++i) {
    if (up ? after[i] > before[i] : after[i] < before[i]) return true;
  }
  return false;
}

/// What the host of a user's script does, which no experiment has.
std::vector<double> times_of_scripts(const Profiles& profiles) {
  const chip::ScriptTimes& times = profiles.software.script;
  return {times.ttnn_call.seconds(), times.program_miss.seconds(), times.kernel_compile.seconds()};
}

/// Holds one profile and what its constants move.
class Tried {
 public:
  explicit Tried(const std::string& profile)
      : constants_(chip::load_constants({.profiles = {profile}, .settings = {}})),
        profiles_(read_profiles(constants_)),
        measures_(all_times()),
        before_(measures_.size()) {}

  /// Tries `factor` times the constant, which stays whole if it counts something.
  Outcome with(const std::string& name, double factor) {
    const bool of_chip = constants_.chip.contains(name);
    const Constant& constant = (of_chip ? constants_.chip : constants_.software).at(name);
    const double value =
        constant.unit == "count" ? std::floor(constant.value * factor) : constant.value * factor;
    ProfileConstants changed = constants_;
    set_constant(changed, fmt::format("{}={:.12g}{}", name, value, constant.unit));
    Profiles other;
    try {
      other = read_profiles(changed);
    } catch (const Error& refusal) {
      const bool names_it = refusal.text().value.find(name) != std::string::npos;
      return names_it ? Outcome::is_refused : Outcome::does_nothing;
    }
    const Meaning meaning = meaning_of(name, constant);
    const bool rises = meaning.more == More::is_slower || meaning.more == More::allows;
    const bool up = rises == (factor > 1);
    const bool moved =
        meaning.limit ? any_moved(meaning.limit(profiles_), meaning.limit(other), up)
                      : any_time_moved(other, up) ||
                            any_moved(times_of_scripts(profiles_), times_of_scripts(other), up);
    return moved ? Outcome::moves : Outcome::does_nothing;
  }

 private:
  bool any_time_moved(const Profiles& other, bool up) {
    for (std::size_t i = 0; i < measures_.size(); ++i) {
      if (before_[i].empty()) before_[i] = measures_[i](profiles_);
      if (any_moved(before_[i], measures_[i](other), up)) return true;
    }
    return false;
  }

  ProfileConstants constants_;
  Profiles profiles_;
  std::vector<Measure> measures_;
  std::vector<std::vector<double>> before_;  ///< With the profile as it is; made when needed.
};

/// Says whether Wormhole has nothing of it, or never enough to show, or whether it says of which
/// version a kernel is. Tests of their own try these (tests/engines/chip/blackhole_test.cpp and
/// tests/engines/ops/choice_test.cpp, chip_links_test.cpp, kernels/rows/rows_test.cpp,
/// kernels/llama_ops_test.cpp).
bool has_its_own_test(std::string_view name) {
  static const std::set<std::string, std::less<>> known{
      "choice.topk_of_rows",          "grid.eth_dispatch",          "dram.request",
      "attention.skips_windows",      "tiles.norm_rereads",         "reduce_scatter.half_ring",
      "noc.multicast_flush",          "noc.multicast_beside_reads", "dispatch.arguments_overlap",
      "dispatch.trace_keeps_binaries"};
  return known.contains(name) || name.starts_with("power.");
}

/// A value may be refused, by a limit or another constant that it contradicts, but not both values.
void expect_all_count(const std::string& profile) {
  const auto document = nlohmann::json::parse(chip::built_in_profile(profile));
  Tried tried(profile);
  for (const auto& [name, entry] : document["constants"].items()) {
    if (has_its_own_test(name)) continue;
    const Outcome half = tried.with(name, 0.5);
    const Outcome twice = tried.with(name, 2);
    EXPECT_NE(half, Outcome::does_nothing) << "half of " << name;
    EXPECT_NE(twice, Outcome::does_nothing) << "twice " << name;
    // Between two limits there may be room for a little more.
    EXPECT_TRUE(half == Outcome::moves || twice == Outcome::moves ||
                tried.with(name, 1.2) == Outcome::moves)
        << name;
  }
}

TEST(EveryConstant, OfTheChipMovesATimeOrALimitAsItsMeaningSays) {
  expect_all_count("wormhole_b0_n300");
  expect_all_count("wormhole_b0_n150");
}

TEST(EveryConstant, OfTheSoftwareMovesATimeOrALimitAsItsMeaningSays) {
  expect_all_count("tt_metal_2025_12");
  expect_all_count("tt_metal_2026_07");
}

TEST(EveryConstant, IsOfAProfileThatIsTried) {
  // Those of Blackhole have the same constants, with other values, and a Galaxy's chip has the one
  // that an N150's has: all rows that there are, so that no more can be tried.
  EXPECT_EQ(std::ranges::count_if(
                chip::built_in_profiles(),
                [](const std::string& name) { return name.find("blackhole") == name.npos; }),
            5);
}

}  // namespace
}  // namespace howard::experiments
