// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/model.h"
#include "engines/ops/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/chip/calibration/steady_state.h"
#include "engines/chip/emulated_chip.h"
#include "engines/chip/kernels/matmul/matmul_cost.h"
#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/planner.h"

namespace howard::calibration {
namespace {

using chip::DispatchCoreType;
using chip::Launch;
using chip::PlannedProgram;
using chip::Profiles;

[[noreturn]] void fail(const MeasurementTable& table, std::string value, std::string accepted) {
  throw Error({.attempted = "read measurements " + table.name,
               .value = std::move(value),
               .accepted = std::move(accepted)});
}

class ProgramDispatch final : public Model {
 public:
  explicit ProgramDispatch(const MeasurementTable& table) {
    for (std::size_t row = 0; row < table.rows.size(); ++row) rows_.push_back(read(table, row));
  }

  void predict(const Profiles& profiles, std::span<double> seconds) const override {
    const auto& software = profiles.software;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      // The programs of a row are one program, so a trace that keeps binaries leaves them out.
      const chip::Footprint sent =
          software.dispatch.trace_keeps_binaries ? without_binaries(row.footprint) : row.footprint;
      Launch launch{.dispatch = dispatch_time(sent, row.dispatch, software),
                    .go = go_time(row.footprint, software, row.dispatch),
                    .configuration = configuration_bytes(sent)};
      std::vector<Launch> step(static_cast<std::size_t>(row.empty_programs) + 1, launch);
      step.front().kernel = SimTime::picoseconds(
          static_cast<std::int64_t>(static_cast<double>(row.kernel_cycles) * kLoop * 1e12 /
                                    static_cast<double>(profiles.chip.aiclk.value())));
      seconds[i] = steady_period(std::move(step), software).seconds();
    }
  }

 private:
  /// The slow kernel's loop takes longer than the cycles it is asked for: the times of the rows of
  /// 5000 and 10000 cycles differ by 5068 to 5080.
  static constexpr double kLoop = 1.0155;

  struct Row {
    chip::Footprint footprint;
    DispatchCoreType dispatch{};
    int kernel_cycles = 0;
    int empty_programs = 0;
  };

  static Row read(const MeasurementTable& table, std::size_t row) {
    int kernels = 0;
    int binaries = 0;
    for (const std::string& risc : split(table.text(row, "riscs"), '+')) {
      ++kernels;
      binaries += risc == "trisc" ? 3 : 1;
    }
    const auto count = [&](std::string_view column) { return table.count(row, column); };
    return {.footprint = {.cores = count("cores"),
                          .kernel_groups = count("kernel_groups"),
                          .binaries = binaries,
                          .binary_bytes = Bytes(std::int64_t{binaries} * count("kernel_bytes")),
                          .circular_buffers = count("circular_buffers"),
                          .circular_buffer_groups = count("circular_buffer_groups"),
                          .semaphores = count("semaphores"),
                          .unique_arguments = kernels * count("arguments"),
                          .common_arguments = kernels * count("common_arguments")},
            .dispatch = table.text(row, "dispatch") == "eth" ? DispatchCoreType::eth
                                                             : DispatchCoreType::worker,
            .kernel_cycles = count("kernel_cycles"),
            .empty_programs = count("empty_programs")};
  }

  std::vector<Row> rows_;
};

/// Returns what the operands' shards take of the L1 of a core.
Bytes l1_of_shards(const Program& program) {
  Bytes taken;
  for (const Operand& input : program.inputs) {
    if (!input.spec.sharding || input.spec.storage != Storage::l1) continue;
    const chip::ShardPages pages = chip::shard_pages(input.spec);
    taken += pages.count * pages.size;
  }
  return taken;
}

/// Holds the programs of a table's rows, planned anew for each set of constants.
class Planned {
 public:
  Planned(CoreGrid grid, std::vector<Program> programs)
      : grid_(grid), programs_(std::move(programs)) {}

  std::size_t size() const { return programs_.size(); }
  PlannedProgram plan(std::size_t i, const Profiles& profiles) const {
    const Bytes taken = l1_of_shards(programs_[i]);
    if (taken == Bytes()) return plan_program(programs_[i], grid_, profiles);
    // ttnn chooses blocks for what the operands leave of the L1.
    Profiles left = profiles;
    left.chip.l1_circular_buffers = profiles.chip.l1_circular_buffers - taken;
    return plan_program(programs_[i], grid_, left);
  }

 private:
  CoreGrid grid_;
  std::vector<Program> programs_;
};

/// Returns the text of a row's product, or makes it of "512x1024x2048" (m, k, n).
std::string matmul_text(const MeasurementTable& table, std::size_t row, bool fidelity_is_given) {
  if (std::ranges::find(table.columns, "program") != table.columns.end()) {
    return table.text(row, "program");
  }
  const std::vector<std::string> sides = split(table.text(row, "shape"), 'x');
  if (sides.size() != 3) fail(table, "shape " + table.text(row, "shape"), "MxKxN");
  const std::string fidelity =
      fidelity_is_given ? ":fidelity=" + table.text(row, "fidelity") : std::string();
  return fmt::format("matmul{} {}x{} {}x{}", fidelity, sides[0], sides[1], sides[1], sides[2]);
}

Planned plan_matmuls(const MeasurementTable& table, bool fidelity_is_given) {
  std::vector<Program> programs;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string text = matmul_text(table, row, fidelity_is_given);
    programs.push_back(ops::parse_program(text, parse_data_type(table.text(row, "dtype"))));
  }
  return {table.grid, std::move(programs)};
}

class MatmulTraced final : public Model {
 public:
  explicit MatmulTraced(const MeasurementTable& table)
      : programs_(plan_matmuls(table, true)), quantities_(table.measured.size()) {}

  void predict(const Profiles& profiles, std::span<double> seconds) const override {
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      const PlannedProgram planned = programs_.plan(i, profiles);
      const Launch launch = launch_of(planned, DispatchCoreType::worker, profiles);
      // Each program waits until the records of the previous one are pushed.
      seconds[quantities_ * i] =
          (steady_period({launch}, profiles.software) + profiles.software.profiler_push).seconds();
      // Its cycles were counted, which do not become more when the clock falls.
      if (quantities_ > 1) {
        Profiles steady = profiles;
        steady.chip.power.limit = 0;
        seconds[quantities_ * i + 1] = programs_.plan(i, steady).kernel.math_end.seconds();
      }
    }
  }

 private:
  Planned programs_;
  std::size_t quantities_;  ///< The period, and the math time if it was measured.
};

class MatmulFinished final : public Model {
 public:
  explicit MatmulFinished(const MeasurementTable& table) : programs_(plan_matmuls(table, false)) {}

  void predict(const Profiles& profiles, std::span<double> seconds) const override {
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      const PlannedProgram planned = programs_.plan(i, profiles);
      const Launch launch = launch_of(planned, DispatchCoreType::worker, profiles);
      seconds[i] = (profiles.software.host_op_call + lone_time(launch, profiles.software) +
                    profiles.software.host_finish)
                       .seconds();
    }
  }

 private:
  Planned programs_;
};

class OpKernel final : public Model {
 public:
  explicit OpKernel(const MeasurementTable& table) : grid_(table.grid), programs_(read(table)) {
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      skews_.push_back(table.number(row, "start_skew") * 1e-6);
    }
  }

  void predict(const Profiles& profiles, std::span<double> seconds) const override {
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      const chip::KernelCost kernel = programs_.plan(i, profiles).kernel;
      // The profiler counts from the first core's start, and cores start one after the other; a
      // core that starts late finds the DRAM's queues shorter.
      const double skew = skews_[i] * kernel.cores / grid_.cores();
      seconds[i] = std::max(kernel.total.seconds(), kernel.unshared.seconds() + skew);
    }
  }

 private:
  static Planned read(const MeasurementTable& table) {
    std::vector<Program> programs;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      programs.push_back(ops::parse_program(table.text(row, "program"),
                                            parse_data_type(table.text(row, "dtype"))));
    }
    return {table.grid, std::move(programs)};
  }

  CoreGrid grid_;
  Planned programs_;
  /// The time from the first core's start to the last one's, with all cores in use.
  std::vector<double> skews_;
};

class HostBound final : public Model {
 public:
  explicit HostBound(const MeasurementTable& table) {
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      calls_.push_back(table.count(row, "calls"));
    }
  }

  void predict(const Profiles& profiles, std::span<double> seconds) const override {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      // Each call allocates the tensor that it writes.
      const SimTime call = profiles.software.host_op_call + profiles.software.host_allocation;
      seconds[i] = (calls_[i] * call).seconds();
    }
  }

 private:
  std::vector<int> calls_;
};

class TracedStep final : public Model {
 public:
  explicit TracedStep(const MeasurementTable& table) {
    if (table.programs.empty()) fail(table, "it has no list \"programs\"", "what a step runs");
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const DataType dtype = parse_data_type(table.text(row, "dtype"));
      std::vector<Program> programs;
      for (const std::string& text : table.programs) {
        programs.push_back(ops::parse_program(fill_in(text, table, row), dtype));
      }
      steps_.emplace_back(table.grid, std::move(programs));
    }
  }

  void predict(const Profiles& profiles, std::span<double> seconds) const override {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      std::vector<Launch> step;
      for (std::size_t j = 0; j < steps_[i].size(); ++j) {
        step.push_back(launch_of(steps_[i].plan(j, profiles), DispatchCoreType::worker, profiles));
        step.back().planned = nullptr;  // it does not outlive this line
      }
      seconds[i] = replay_period(step, profiles.software).seconds();
    }
  }

 private:
  /// Replaces each capital letter in a program by the value of the column of that name.
  static std::string fill_in(const std::string& text, const MeasurementTable& table,
                             std::size_t row) {
    std::string filled;
    for (const char letter : text) {
      const bool is_column = letter >= 'A' && letter <= 'Z';
      filled += is_column ? std::to_string(table.count(row, std::string(1, letter)))
                          : std::string(1, letter);
    }
    return filled;
  }

  std::vector<Planned> steps_;
};

}  // namespace

std::unique_ptr<Model> make_model(const MeasurementTable& table) {
  if (table.kind == "program_dispatch") return std::make_unique<ProgramDispatch>(table);
  if (table.kind == "matmul_traced") return std::make_unique<MatmulTraced>(table);
  if (table.kind == "matmul_finished") return std::make_unique<MatmulFinished>(table);
  if (table.kind == "op_kernel") return std::make_unique<OpKernel>(table);
  if (table.kind == "host_bound") return std::make_unique<HostBound>(table);
  if (table.kind == "traced_step") return std::make_unique<TracedStep>(table);
  fail(table, "kind \"" + table.kind + "\"",
       "program_dispatch, matmul_traced, matmul_finished, op_kernel, host_bound, traced_step");
}

}  // namespace howard::calibration
