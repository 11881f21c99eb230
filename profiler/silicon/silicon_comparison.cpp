// SPDX-License-Identifier: Apache-2.0
#include "profiler/silicon/silicon_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "engines/chip/calibration/bands.h"
#include "engines/chip/kernels/card_times.h"
#include "engines/chip/kernels/planner.h"
#include "profiler/formats/device_log/cycle_counter.h"
#include "profiler/formats/logged_chip.h"
#include "profiler/formats/ops_csv/timeless_ops.h"
#include "profiler/median.h"
#include "profiler/silicon/log_advice.h"
#include "profiler/silicon/logged_position.h"
#include "profiler/silicon/logged_program.h"

namespace howard::profiler {
namespace {

/// Returns in a few words what a program was told besides its operands: " 8x7 fp32". There is one
/// overload for each kind that is told anything that affects its time.
struct Words {
  std::string operator()(const MatmulAttributes& attributes) const {
    std::string words;
    if (attributes.transpose_a) words += " ta";
    if (attributes.transpose_b) words += " tb";
    if (attributes.compute.fp32_accumulation.value_or(false)) words += " fp32";
    if (!attributes.compute.packer_accumulates.value_or(true)) words += " packer_l1_acc=0";
    if (attributes.activation)
      words += fmt::format(" +{}", name_of(attributes.activation->function));
    if (attributes.config) words += " " + text_of(*attributes.config);
    return words + text(attributes.core_grid);
  }
  std::string operator()(const EltwiseAttributes& attributes) const {
    std::string words = attributes.scalar ? " scalar" : "";
    const auto add = [&](std::string_view role, const std::vector<EltwiseStep>& steps) {
      for (const EltwiseStep& step : steps) {
        words += fmt::format(" {}{}", role, name_of(step.function));
      }
    };
    add("a:", attributes.on_a);
    add("b:", attributes.on_b);
    add("+", attributes.then);
    return words + text(attributes.core_grid);
  }
  std::string operator()(const MinimalMatmulAttributes& attributes) const {
    const std::string activation =
        attributes.activation ? fmt::format(" +{}", name_of(attributes.activation->function)) : "";
    return fmt::format(" {}x{}x{}{}{}{}", attributes.block_m, attributes.block_k,
                       attributes.block_n,
                       attributes.compute.fp32_accumulation.value_or(false) ? " fp32" : "",
                       activation, text(attributes.core_grid));
  }
  std::string operator()(const GroupNormAttributes& attributes) const {
    return text(attributes.core_grid);
  }
  std::string operator()(const AttentionAttributes& attributes) const {
    return fmt::format("{} {}x{}{}", attributes.causal ? " causal" : "", attributes.query_chunk,
                       attributes.key_chunk, text(attributes.window));
  }
  std::string operator()(const SliceAttributes& attributes) const {
    return fmt::format(" from {}", fmt::join(attributes.begins, ","));
  }
  std::string operator()(const PadAttributes& attributes) const {
    return fmt::format(" behind {}", fmt::join(attributes.before, ","));
  }
  std::string operator()(const PermuteAttributes& attributes) const {
    return fmt::format(" {}", fmt::join(attributes.order, ","));
  }
  std::string operator()(const RotaryEmbeddingAttributes& attributes) const {
    return attributes.style == RotaryStyle::pairs ? " pairs" : " halves";
  }
  std::string operator()(const ReduceAttributes& attributes) const {
    constexpr std::array kAlong{" columns", " rows", " batch", ""};
    return std::string(attributes.moreh ? " moreh" : "") +
           kAlong.at(static_cast<std::size_t>(attributes.dimension));
  }
  std::string operator()(const TransposeAttributes& attributes) const {
    return attributes.swap == Swap::rows_columns ? "" : " heads";
  }
  std::string operator()(const SplitHeadsAttributes& attributes) const {
    return fmt::format(" {}", attributes.heads);
  }
  std::string operator()(const DecodeAttentionAttributes& attributes) const {
    return fmt::format(" of {}{}", attributes.seen, text(attributes.window));
  }
  std::string operator()(const AllGatherAttributes& attributes) const {
    return text(attributes.use);
  }
  std::string operator()(const ReduceScatterAttributes& attributes) const {
    return text(attributes.use);
  }
  template <class Other>
  std::string operator()(const Other& attributes) const {
    if constexpr (requires { attributes.window.stride; }) {
      const Window& window = attributes.window;
      return fmt::format(" {}x{}{} of {}x{}x{}", window.size[0], window.size[1],
                         window.stride[0] > 1 ? fmt::format("/{}", window.stride[0]) : "",
                         window.images, window.height, window.width);
    }
    if constexpr (requires { attributes.causal; }) return attributes.causal ? " causal" : "";
    return "";
  }

  static std::string text(std::int64_t window) {
    return window > 0 ? fmt::format(" window {}", window) : "";
  }
  static std::string text(const LinkUse& use) {
    return fmt::format(" {}, {} link{}", use.ring ? "ring" : "line", use.links,
                       use.links > 1 ? "s" : "");
  }
  static std::string text(const std::optional<CoreGrid>& grid) {
    return grid ? fmt::format(" {}x{}", grid->columns, grid->rows) : "";
  }
};

/// Returns "matmul 8x7 fp32".
std::string called(const Program& program) {
  return std::string(program.name) + std::visit(Words(), program.attributes.variant());
}

bool ran_on_host(const OpRow& row) {
  return row.type == "tt_dnn_cpu" || row.type == "python_fallback";
}

/// Returns the emulated kernel's longest stage. Operands in L1 take the emulator as long as those
/// in DRAM, which does not make the DRAM their bound.
std::string_view bound_of(const Program& program, const chip::KernelCost& kernel) {
  const auto in_l1 = [](const Operand& operand) { return operand.spec.storage == Storage::l1; };
  const bool uses_dram =
      !std::ranges::all_of(program.inputs, in_l1) || !std::ranges::all_of(program.outputs, in_l1);
  if (uses_dram || kernel.bottleneck != chip::Bottleneck::dram) {
    return name_of(kernel.bottleneck);
  }
  return "reads of L1, timed as of DRAM";
}

SimTime median_of(const ComparedCall& call) {
  std::vector<SimTime> times;
  for (const MeasuredRun& run : call.runs) times.push_back(run.kernel);
  return median(std::move(times));
}

class Comparer {
 public:
  Comparer(const chip::Profiles& profiles, SiliconComparison& found)
      : profiles_(profiles), found_(found) {}

  /// Takes what was captured into traces for ops of the host, after the last row.
  void take_captures() {
    timeless_.sort([&](const Timeless&) { ++found_.host_ops; },
                   [&](const Timeless& op) { drop(op); });
  }

  void add(const OpRow& row) {
    if (row.type == "signpost") return;
    if (row.kernel_time) timeless_.add_timed(row);
    if (ran_on_host(row)) {
      ++found_.host_ops;
    } else if (!row.kernel_time || *row.kernel_time == SimTime()) {
      const Timeless op{row.line, std::string(row.name)};
      if (!timeless_.add(row, op)) drop(op);
    } else if (rows_ == kMostLoggedPrograms) {
      found_.dropped.add(fmt::format("beyond the first {} programs", kMostLoggedPrograms),
                         row.line);
    } else if (const auto place = place_of(row)) {
      ++rows_;
      used_cores_ = std::max(used_cores_, row.cores.value_or(0));
      const auto& [is_call, index] = *place;
      if (is_call) {
        found_.calls[index].runs.push_back({*row.kernel_time, row.start_skew.value_or(SimTime())});
      } else {
        ++found_.not_emulated[index].runs;
        found_.not_emulated[index].measured += *row.kernel_time;
      }
    }
  }

  /// Plans calls that do not tell their grid on the one that all rows together tell.
  void take_grids() {
    if (without_grid_.empty()) return;
    const CoreGrid grid = grid_by_use(used_cores_, profiles_.chip);
    found_.notes.push_back(fmt::format(
        "the log does not say how many cores there were: taken to be {}{}", grid.cores(),
        grid.cores() == used_cores_ ? ", as many as its ops use at the most" : ""));
    if (grid == usual_grid(profiles_.chip)) return;
    for (const auto& [index, logged] : without_grid_) {
      ComparedCall& call = found_.calls[index];
      const PlannedCall planned = plan_call(logged, grid, profiles_);
      call.grid = grid;
      set_plan(call, logged.program, planned.planned);
      call.known = name_of(planned.band->known);
      call.expected_error = planned.band->share;
    }
  }

  void note_unread() {
    UnreadAttributes unread;
    for (const ComparedCall& call : found_.calls)
      unread.add(call.code, call.unread, call.runs.size());
    if (std::string note = unread.note(); !note.empty()) found_.notes.push_back(std::move(note));
  }

  /// Lets calls that lack their position see the places that their median time tells.
  void take_positions() {
    for (auto& [index, program] : without_position_) {
      ComparedCall& call = found_.calls[index];
      take_position(program, median_of(call), call.grid, profiles_);
      call.call = called(program);
      set_plan(call, program, plan_program(program, call.grid, profiles_));
    }
  }

 private:
  static void set_plan(ComparedCall& call, const Program& program,
                       const chip::PlannedProgram& planned) {
    call.emulated = planned.kernel.total;
    call.unshared = planned.kernel.unshared;
    call.emulated_cores = planned.kernel.cores;
    call.bound_by = bound_of(program, planned.kernel);
    if (call.words) call.words = words_of(planned);
  }

  /// Says whether it is emulated, and its place among those that are or are not.
  using Place = std::pair<bool, std::size_t>;

  std::optional<Place> place_of(const OpRow& row) {
    set_key(row);
    const auto known = places_.find(key_);
    if (known != places_.end()) return known->second;
    if (places_.size() == kMostDifferentCalls) {
      found_.dropped.add(fmt::format("beyond the first {} different calls", kMostDifferentCalls),
                         row.line, row.name);
      return std::nullopt;
    }
    return places_.emplace(key_, find_place(row)).first->second;
  }

  /// Holds everything of the row on which the emulation depends.
  void set_key(const OpRow& row) {
    key_.clear();
    const auto append = [&](std::string_view cell) {
      key_ += cell;
      key_ += '\n';
    };
    append(row.name);
    append(row.attributes);
    append(row.fidelity);
    append(row.architecture);
    append(fmt::to_string(row.worker_cores.value_or(0)));
    for (const std::vector<TensorCells>* tensors : {&row.inputs, &row.outputs}) {
      append("tensors");
      for (const TensorCells& tensor : *tensors) {
        for (const std::string_view side : tensor.dimensions) append(side);
        append(tensor.layout);
        append(tensor.datatype);
        append(tensor.memory);
      }
    }
  }

  Place find_place(const OpRow& row) {
    try {
      if (auto reason = other_chip(row)) return not_emulated(row, std::move(*reason));
      const auto logged = logged_program(row);
      if (!logged) return not_emulated(row, "the emulator has no such op");
      return emulated(row, *logged);
    } catch (const Error& failure) {
      return not_emulated(row, failure.what());
    }
  }

  /// Returns why a row is not of the emulator's chip, by its name, its clock or its cores; absent
  /// if it is.
  std::optional<std::string> other_chip(const OpRow& row) {
    const std::string_view chip = row.architecture.empty() ? chip_of(row) : row.architecture;
    if (row.architecture.empty() && !chip_noted_) {
      chip_noted_ = true;
      found_.notes.push_back(fmt::format("the log does not say of which chip it is: {} {}",
                                         chip.empty() ? "taken to be" : "by its clock or its cores",
                                         chip.empty() ? profiles_.chip.architecture : chip));
    }
    if (chip.empty() || chip == profiles_.chip.architecture) return std::nullopt;
    found_.other_architecture = chip;
    found_.other_cores = row.worker_cores.value_or(0);
    return fmt::format("the emulator is of another chip than {}{}", chip,
                       row.architecture.empty() ? ", which its clock or its cores say it is" : "");
  }

  /// Returns the chip by the clock of the log's first long program whose cycles are those of a
  /// chip, and by the row's cores.
  std::string_view chip_of(const OpRow& row) {
    constexpr SimTime kLongEnough = SimTime::microseconds(1);
    const std::int64_t cores = row.worker_cores.value_or(0);
    const bool tells = row.firmware_start && row.firmware_end && row.firmware_time;
    if (tells && clock_ == Frequency() && *row.firmware_time >= kLongEnough) {
      const auto cycles = CycleCounter::between(*row.firmware_start, *row.firmware_end);
      const double hertz = static_cast<double>(cycles.value_or(0)) / row.firmware_time->seconds();
      if (hertz < static_cast<double>(kFastestClock.value())) {
        const Frequency clock(std::llround(hertz));
        if (!architecture_of(clock, cores).empty()) clock_ = clock;
      }
    }
    return architecture_of(clock_, cores);
  }

  Place not_emulated(const OpRow& row, std::string reason) {
    const auto [at, is_new] =
        reasons_.try_emplace({std::string(row.name), reason}, found_.not_emulated.size());
    if (is_new) {
      found_.not_emulated.push_back(
          {.code = std::string(row.name), .reason = std::move(reason), .first_line = row.line});
    }
    return {false, at->second};
  }

  Place emulated(const OpRow& row, const LoggedProgram& logged_call) {
    const Program& program = logged_call.program;
    const auto logged = logged_grid(row, profiles_.chip);
    const CoreGrid grid = logged.value_or(usual_grid(profiles_.chip));
    const PlannedCall call_plan = plan_call(logged_call, grid, profiles_);
    const chip::PlannedProgram& planned = call_plan.planned;
    const bool by_its_time = lacks_position(program);
    ComparedCall call{.code = std::string(row.name),
                      .call = called(program),
                      .inputs = chip::text_of(program.inputs),
                      .output = chip::text_of({&program.outputs.front(), 1}),
                      .fidelity = std::string(row.fidelity),
                      .grid = grid,
                      .emulated = planned.kernel.total,
                      .unshared = planned.kernel.unshared,
                      .emulated_cores = planned.kernel.cores,
                      .by_its_time = by_its_time,
                      .bound_by = bound_of(program, planned.kernel),
                      .known = name_of(call_plan.band->known),
                      .expected_error = call_plan.band->share,
                      .measured_cores = row.cores.value_or(0),
                      .runs = {},
                      .words = {},
                      .kind = kind_of(planned),
                      .unread = logged_call.unread};
    if (!logged_call.stands_in && !by_its_time) call.words = words_of(planned);
    const auto [at, is_new] = calls_.try_emplace(
        {call.code, call.call, call.inputs, call.output, call.fidelity, call.grid, call.emulated},
        found_.calls.size());
    if (is_new) {
      if (by_its_time) without_position_.emplace(found_.calls.size(), program);
      if (!logged) without_grid_.emplace(found_.calls.size(), logged_call);
      found_.calls.push_back(std::move(call));
    }
    return {true, at->second};
  }

  /// A device op without the device's times.
  struct Timeless {
    std::uint64_t line;
    std::string name;
  };

  void drop(const Timeless& op) {
    found_.dropped.add("a device op without a kernel's time", op.line, op.name);
  }

  const chip::Profiles& profiles_;
  SiliconComparison& found_;
  TimelessOps<Timeless> timeless_;
  std::size_t rows_ = 0;
  bool chip_noted_ = false;
  Frequency clock_;  ///< The clock of a chip that the log does not name.
  std::string key_;
  std::map<std::string, Place> places_;  ///< Keys are what the rows say.
  /// Words do not tell all that a program was told; what they leave out shows in its time.
  using Description = std::tuple<std::string, std::string, std::string, std::string, std::string,
                                 CoreGrid, SimTime>;
  std::map<Description, std::size_t> calls_;
  std::map<std::pair<std::string, std::string>, std::size_t> reasons_;
  /// Calls that lack their position, and those that do not tell how many cores there were, by their
  /// places among those found.
  std::map<std::size_t, Program> without_position_;
  std::map<std::size_t, LoggedProgram> without_grid_;
  std::int64_t used_cores_ = 0;  ///< The most of all rows.
};

/// Leaves out what cannot be compared: runs of a thousand times the median of their call, and calls
/// whose runs differ by more than one shape allows.
void leave_out_doubtful(SiliconComparison& found) {
  constexpr std::int64_t kFar = 1'000;
  for (ComparedCall& call : found.calls) {
    const SimTime limit = kFar * median_of(call);
    const auto far =
        std::erase_if(call.runs, [&](const MeasuredRun& run) { return run.kernel > limit; });
    if (far == 0) continue;
    found.dropped.add("DEVICE KERNEL DURATION [ns] is a thousand times the median of its call", 0,
                      call.code, far);
  }
  std::erase_if(found.calls, [&](const ComparedCall& call) {
    std::vector<SimTime> times;
    for (const MeasuredRun& run : call.runs) times.push_back(run.kernel);
    if (!has_doubtful_shapes(call.code, times)) return false;
    NotEmulated& left = found.not_emulated.emplace_back(
        NotEmulated{.code = call.code,
                    .reason = fmt::format("its runs differ by more than the shape that the log "
                                          "has allows: {}",
                                          call.inputs),
                    .runs = times.size()});
    for (const SimTime time : times) left.measured += time;
    return true;
  });
}

}  // namespace

double error_of(const ComparedCall& call, const MeasuredRun& run) {
  return (call.emulated - run.kernel).seconds() / run.kernel.seconds();
}

double error_with_skew(const ComparedCall& call, const MeasuredRun& run) {
  const double skew = run.start_skew.seconds() * call.emulated_cores / call.grid.cores();
  const double kernel = std::max(call.emulated.seconds(), call.unshared.seconds() + skew);
  return (kernel - run.kernel.seconds()) / run.kernel.seconds();
}

SiliconComparison compare_with_silicon(ByteSource& source, std::string_view name,
                                       const chip::Profiles& profiles, const ToldCalls* told) {
  SiliconComparison found;
  Comparer comparer(profiles, found);
  const bool cut_off = for_each_op_row(
      source, name, Tensors::read, found.dropped, [&](const OpRow& row) { comparer.add(row); },
      [](const OpsFileKnows&) {}, told);
  if (cut_off) found.notes.emplace_back("the file ends within a row");
  comparer.take_captures();
  comparer.take_grids();
  comparer.take_positions();
  comparer.note_unread();
  leave_out_doubtful(found);
  return found;
}

}  // namespace howard::profiler
