// SPDX-License-Identifier: Apache-2.0
#include "experiments/questions/tuning_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "engines/program/matmul_config.h"
#include "reports/pictures/xy_chart.h"
#include "reports/tables/format.h"
#include "reports/tables/row_columns.h"

namespace howard::experiments {
namespace {

using harness::CellSource;
using harness::find_parameter;
using harness::PointResult;

std::string_view told(const Tuning& tuning, std::string_view axis) {
  return *find_parameter(tuning.parameters, axis);
}

/// Returns "A[4096,4096] B[4096,4096], bfloat16, transpose b, 8x7 cores".
std::string product_text(const Tuning& tuning) {
  const std::string batch =
      told(tuning, "batch") == "1" ? "" : fmt::format("{},", told(tuning, "batch"));
  std::string text = fmt::format("A[{}{},{}] B[{}{},{}], {}", batch, told(tuning, "m"),
                                 told(tuning, "k"), told(tuning, "batched") == "both" ? batch : "",
                                 told(tuning, "k"), told(tuning, "n"), told(tuning, "dtype"));
  const auto add = [&](std::string_view axis, std::string_view usual, std::string_view words) {
    if (told(tuning, axis) != usual) text += fmt::format(", {}{}", words, told(tuning, axis));
  };
  for (const std::string_view axis : {"weights", "output"}) {
    if (const auto type = find_parameter(tuning.parameters, axis)) {
      text += fmt::format(", {} in {}", axis, *type);
    }
  }
  add("transpose", "none", "transposed ");
  const std::string_view bias = told(tuning, "bias");
  if (bias != "no") text += bias == "yes" ? ", bias" : fmt::format(", bias in {}", bias);
  add("activation", "none", "");
  add("memory_a", "dram", "A in ");
  add("memory_b", "dram", "B in ");
  add("memory_out", "dram", "result in ");
  add("grid", "default", "at most ");
  return fmt::format("{}, {} dispatch, {}", text, told(tuning, "dispatch"),
                     name_of(tuning.own_choice().plan.fidelity));
}

/// Returns "ttnn's own choice takes 10.58 ms, the best of 8543861 configurations 2.102 ms: 5.00x".
std::string answer_text(const Tuning& tuning) {
  const double gain = tuning.gain(tuning.best());
  if (gain <= 1) {
    return fmt::format("none of {} configurations is faster than ttnn's own choice, {}",
                       tuning.legal, reports::format_time(tuning.own_choice().time));
  }
  return fmt::format("ttnn's own choice takes {}, the best of {} configurations {}: {:.2f}x",
                     reports::format_time(tuning.own_choice().time), tuning.legal,
                     reports::format_time(tuning.best().time), gain);
}

/// Says what is gained by sharding the weights over the banks of the DRAM: "DRAM-shard the weights:
/// 134.8 us now, 111.1 us then (1.21x)", and how.
std::string dram_sharded_text(const Tuning& tuning, const chip::PricedMatmul& sharded) {
  const SimTime now = std::min(tuning.own_choice().time, tuning.best().time);
  const chip::MatmulPlan& plan = sharded.plan;
  const double gain = now.seconds() / sharded.kernel.total.seconds();
  return fmt::format(
      "{}: the fastest of them takes {}, and {} with B in width shards over {} banks ({}), and A "
      "and the result in width shards in L1 on {} cores ({:.2f}x)",
      gain > 1 ? "DRAM-shard the weights" : "DRAM-sharding the weights gains nothing",
      reports::format_time(now), reports::format_time(sharded.kernel.total),
      plan.config.grid.columns, text_of(config_of(plan)), plan.problem.in0_shards->grid.cores(),
      gain);
}

reports::Table table_of(const Tuning& tuning) {
  using chip::MatmulPlan;
  const auto text_of = [](std::string (*text)(const MatmulPlan&)) {
    return [=](const TunedConfig& config) { return text(config.plan); };
  };
  reports::Table table{.caption =
                           fmt::format("tune: {}: {}", product_text(tuning), answer_text(tuning))};
  const reports::RowColumns columns(table, tuning.configs);
  columns.keys("rank", &TunedConfig::rank);
  columns.quantities("time", "s", &TunedConfig::time);
  columns.words(
      reports::TableColumn{.title = "gain", .number = true},
      [&](const TunedConfig& config) { return fmt::format("{:.2f}x", tuning.gain(config)); });
  columns.quantities("call", "s", &TunedConfig::call);
  columns.words("bound by", [](const TunedConfig& config) { return name_of(config.bound); });
  columns.quantities("L1", "B", &TunedConfig::l1);
  columns.words("kind", text_of([](const MatmulPlan& plan) {
                  const bool loops = plan.is_multicast() && plan.batch > 1;
                  return fmt::format("{}{}{}", name_of(plan.config.kind),
                                     plan.config.transpose_mcast ? " turned" : "",
                                     loops ? " looped" : "");
                }));
  columns.words("per core", text_of([](const MatmulPlan& plan) {
                  return fmt::format("{}x{}", plan.config.per_core_m, plan.config.per_core_n);
                }));
  columns.counts("k", [](const TunedConfig& config) { return config.plan.config.in0_block_w; });
  columns.words("block", text_of([](const MatmulPlan& plan) {
                  return fmt::format("{}x{}", plan.config.out_block_h, plan.config.out_block_w);
                }));
  columns.words("sub", text_of([](const MatmulPlan& plan) {
                  return fmt::format("{}x{}", plan.config.subblock_h, plan.config.subblock_w);
                }));
  table.notes.emplace_back(
      "time: of the kernels; call: with host, dispatch and a finish after each, as matmul_sweep "
      "times it; L1: of each core, for circular buffers; in tiles: per_core_M x per_core_N, k: "
      "in0_block_w, out_block, out_subblock; turned: transpose_mcast; looped: no fuse_batch");
  table.notes.push_back("the fastest of them: -a config=" + config_text(tuning.best()));
  if (tuning.dram_sharded) table.notes.push_back(dram_sharded_text(tuning, *tuning.dram_sharded));
  return table;
}

// The functions below write Python.

std::string_view python_type(DataType dtype) { return name_of(dtype); }

std::string_view python_memory(std::string_view word) {
  return word == "l1" ? "ttnn.L1_MEMORY_CONFIG" : "ttnn.DRAM_MEMORY_CONFIG";
}

std::string compute_config(const Tuning& tuning) {
  const chip::MatmulPlan& plan = tuning.own_choice().plan;
  return fmt::format(
      "ttnn.WormholeComputeKernelConfig(\n    math_fidelity=ttnn.MathFidelity.{},\n"
      "    math_approx_mode=False,\n    fp32_dest_acc_en={},\n    packer_l1_acc=True,\n)",
      name_of(plan.fidelity), plan.fp32_accumulation ? "True" : "False");
}

/// Returns the call of a configuration that the name `program_config` holds.
std::string call_of(const Tuning& tuning, const TunedConfig& config) {
  const bool bias = told(tuning, "bias") != "no";
  const std::string_view transposed = told(tuning, "transpose");
  std::string call = fmt::format("output = ttnn.{}(\n    a,\n    b,\n", bias ? "linear" : "matmul");
  if (bias) call += "    bias=bias,\n";
  if (transposed.find('a') != std::string_view::npos) call += "    transpose_a=True,\n";
  if (transposed.find('b') != std::string_view::npos) call += "    transpose_b=True,\n";
  call += fmt::format(
      "    memory_config={},\n    dtype=ttnn.{},\n    program_config=program_config,\n"
      "    compute_kernel_config=compute_kernel_config,\n)\n",
      python_memory(told(tuning, "memory_out")),
      python_type(tuning.own_choice().plan.problem.types.out));
  const std::string_view activation = told(tuning, "activation");
  if (activation != "none" && !config.plan.problem.activation) {
    call += fmt::format("output = ttnn.{}(output)\n", activation);
  }
  return call;
}

std::string entry_of(const TunedConfig& config) {
  return fmt::format(
      "    {{\n        \"rank\": \"{}\",\n        \"kernel_us\": {:.3f},\n"
      "        \"bound_by\": \"{}\",\n        \"l1_bytes\": {},\n        \"config\": \"{}\",\n"
      "        \"program_config\": {},\n    }},\n",
      config.rank, 1e6 * config.time.seconds(), name_of(config.bound), config.l1.value(),
      config_text(config),
      indented(python_text(config_of(config.plan), config.plan.problem.activation), 8));
}

harness::Metric time_metric(std::string name, SimTime time) {
  return {.name = std::move(name), .value = time.seconds(), .unit = "s", .virtual_time = time};
}

PointResult point_of(const Tuning& tuning, const TunedConfig& config) {
  PointResult point{.backend = harness::Backend::emulated, .parameters = tuning.parameters};
  point.parameters.emplace_back("rank", config.rank);
  point.metrics.push_back(time_metric("time", config.time));
  point.metrics.push_back({.name = "gain",
                           .value = tuning.gain(config),
                           .unit = "1",
                           .better = harness::Better::higher});
  point.metrics.push_back(time_metric("call_time", config.call));
  point.metrics.push_back(
      {.name = "l1", .value = static_cast<double>(config.l1.value()), .unit = "B"});
  point.metrics.push_back({.name = "throughput",
                           .value = tuning.flops / config.time.seconds(),
                           .unit = "FLOP/s",
                           .better = harness::Better::higher});
  point.metrics.push_back(
      {.name = "cores", .value = static_cast<double>(config.plan.active_cores()), .unit = "cores"});
  point.add(harness::kBoundBy, std::string(name_of(config.bound)));
  point.details.emplace_back("config", config_text(config));
  point.details.emplace_back("matmul_config", config.plan.text());
  point.details.emplace_back("program_config",
                             python_text(config_of(config.plan), config.plan.problem.activation));
  if (config.rank == "default") {
    point.details.emplace_back("legal_configurations", std::to_string(tuning.legal));
    point.details.emplace_back("compute_kernel_config", compute_config(tuning));
  }
  return point;
}

std::vector<reports::ChartMark> marks_of(std::span<const TuningPlace> places,
                                         const reports::Scale& scale) {
  constexpr double kKibi = 1024;
  std::vector<reports::ChartMark> marks;
  for (const TuningPlace& place : places) {
    marks.push_back({.x = static_cast<double>(place.l1.value()) / kKibi,
                     .y = reports::in_unit(place.time.seconds(), scale)});
  }
  return marks;
}

}  // namespace

std::string indented(std::string text, std::size_t spaces) {
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
    text.insert(at + 1, spaces, ' ');
  }
  return text;
}

std::vector<reports::Table> tuning_tables(std::span<const Tuning> tunings) {
  std::vector<reports::Table> tables;
  for (const Tuning& tuning : tunings) tables.push_back(table_of(tuning));
  return tables;
}

harness::Presentation tuning_presentation() {
  return {.timed = "the kernels of a product",
          .columns = {{"m", CellSource::parameter, "m"},
                      {"k", CellSource::parameter, "k"},
                      {"n", CellSource::parameter, "n"},
                      {"rank", CellSource::parameter, "rank"},
                      {"time", CellSource::metric, "time"},
                      {"gain", CellSource::metric, "gain"},
                      {"call", CellSource::metric, "call_time"},
                      {"bound by", CellSource::detail, "bound_by"},
                      {"L1", CellSource::metric, "l1"},
                      {"config", CellSource::detail, "config", harness::Room::whole}},
          .plots = {}};
}

harness::ExperimentResult tuning_result(std::span<const Tuning> tunings,
                                        const harness::RunContext& context) {
  harness::ExperimentResult result{
      .experiment = name_of(harness::CommandResult::tune), .context = context, .points = {}};
  for (const Tuning& tuning : tunings) {
    for (const TunedConfig& config : tuning.configs) {
      result.points.push_back(point_of(tuning, config));
    }
  }
  return result;
}

std::string best_python(const Tuning& tuning) {
  return fmt::format(
      "program_config = {}\ncompute_kernel_config = {}\n{}",
      python_text(config_of(tuning.best().plan), tuning.best().plan.problem.activation),
      compute_config(tuning), call_of(tuning, tuning.best()));
}

std::string tuning_module(std::span<const Tuning> tunings) {
  std::string text =
      "# Matmul configurations, the default of ttnn first, then the fastest.\nimport ttnn\n";
  for (std::size_t i = 0; i < tunings.size(); ++i) {
    const Tuning& tuning = tunings[i];
    const std::string number = tunings.size() == 1 ? "" : fmt::format("_{}", i + 1);
    text += fmt::format("\n# {}\n# {}\n", product_text(tuning), answer_text(tuning));
    text += fmt::format("compute_kernel_config{} = {}\n", number, compute_config(tuning));
    text += fmt::format("configs{} = [\n", number);
    for (const TunedConfig& config : tuning.configs) text += entry_of(config);
    text += "]\n";
  }
  return text;
}

std::string tuning_mlir(std::span<const Tuning> tunings) {
  std::string text;
  for (const Tuning& tuning : tunings) {
    const chip::MatmulPlan& plan = tuning.best().plan;
    const std::string attribute = mlir_text(config_of(plan), plan.problem.activation);
    text += fmt::format("// {}\n// {}\n{}\n", product_text(tuning), answer_text(tuning),
                        attribute.empty() ? "// " + config_text(tuning.best())
                                          : "matmul_program_config = " + attribute);
  }
  return text;
}

reports::PlotFiles write_tuning_plot(const Tuning& tuning, const std::string& name,
                                     const reports::Canvas& canvas) {
  std::vector<double> times;
  std::vector<TuningPlace> best, own{{tuning.own_choice().l1, tuning.own_choice().time}};
  for (const TunedConfig& config : tuning.configs) {
    times.push_back(config.time.seconds());
    if (config.rank != "default") best.push_back({config.l1, config.time});
  }
  const reports::Scale scale = reports::fit_scale("s", times);
  const auto share = [](const TunedConfig& config) {
    return fmt::format("{}, {}x{} tiles a core", name_of(config.plan.config.kind),
                       config.plan.config.per_core_m, config.plan.config.per_core_n);
  };
  constexpr double kAcross = 800;
  constexpr std::size_t kMarks = 9;
  reports::XyChart chart{
      .name = name,
      .title = fmt::format("{}: {}", product_text(tuning), answer_text(tuning)),
      .x = {},
      .y = {},
      .x_label = "L1 of each core for circular buffers (KiB)",
      .y_label = reports::with_unit("time of the kernels", scale.unit),
      .series = {{.title = "blockings of the default's share: " + share(tuning.own_choice()),
                  .color = 5,
                  .line = false,
                  .marks = marks_of(tuning.default_share, scale)},
                 {.title = "blockings of the fastest share: " + share(tuning.best()),
                  .color = 0,
                  .line = false,
                  .marks = marks_of(tuning.best_share, scale)},
                 {.title = "the best",
                  .color = 2,
                  .line = false,
                  .marks = marks_of(best, scale),
                  .open = marks_of(own, scale)}},
      .open_title = "ttnn's own choice"};
  double most_l1 = 0;
  double shortest = in_unit(tuning.own_choice().time.seconds(), scale);
  double longest = shortest;
  for (const reports::ChartSeries& series : chart.series) {
    for (const auto* const marks : {&series.marks, &series.open}) {
      for (const reports::ChartMark& mark : *marks) {
        most_l1 = std::max(most_l1, mark.x);
        shortest = std::min(shortest, mark.y);
        longest = std::max(longest, mark.y);
      }
    }
  }
  chart.x = reports::linear_axis(0, most_l1, kAcross);
  chart.y = reports::log_axis(shortest, longest, kMarks);
  return reports::write_xy_chart(chart, canvas);
}

}  // namespace howard::experiments
