// SPDX-License-Identifier: Apache-2.0
#include "experiments/questions/work_tuning_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text.h"
#include "engines/program/matmul_config.h"
#include "reports/tables/columns.h"
#include "reports/tables/format.h"
#include "reports/tables/row_columns.h"

namespace howard::experiments {
namespace {

using harness::Metric;

const MatmulAttributes* product_of(const TunedCall& call) {
  return std::get_if<MatmulAttributes>(&call.program.attributes);
}

/// Returns the types of a call's operands and of its first result, those that differ.
std::string types_text(const TunedCall& call) {
  const Program& program = call.program;
  std::vector<std::string> types;
  const bool product = product_of(call) != nullptr;
  for (std::size_t i = 0; i < (product ? 2 : 1) && i < program.inputs.size(); ++i) {
    types.emplace_back(name_of(program.inputs[i].spec.dtype));
  }
  types.emplace_back(name_of(program.outputs[0].spec.dtype));
  const bool alike = std::ranges::all_of(types, [&](const auto& type) { return type == types[0]; });
  return alike ? types[0] : join(types, " ");
}

/// Returns where the operands and the first result are, as far as that is not DRAM, interleaved.
std::string places_text(const TunedCall& call) {
  const auto place = [](const TensorSpec& spec) {
    const std::string_view memory = spec.storage == Storage::l1 ? "L1" : "DRAM";
    return spec.sharding ? fmt::format("{} {}", memory, name_of(spec.sharding->layout))
                         : std::string(memory);
  };
  std::vector<std::string> places;
  const bool product = product_of(call) != nullptr;
  for (std::size_t i = 0; i < (product ? 2 : 1) && i < call.program.inputs.size(); ++i) {
    places.push_back(place(call.program.inputs[i].spec));
  }
  places.push_back(place(call.program.outputs[0].spec));
  const bool alike = std::ranges::all_of(places, [&](const auto& one) { return one == places[0]; });
  return alike ? places[0] : join(places, ", ");
}

std::string in_percent(double share) { return fmt::format("{:.1f}", 100 * share); }
std::string faster(double gain) { return fmt::format("{:.2f}x", gain); }

/// Returns "96 calls" or "2.5 calls".
std::string number_text(double calls) { return fmt::format("{:.6g}", calls); }

reports::Table calls_table(const WorkTuning& tuning, const std::string& what) {
  reports::Table table{.caption = fmt::format("tune {}: {}", what, answer_text(tuning))};
  if (tuning.calls.empty()) return table;
  const reports::RowColumns columns(table, tuning.calls);
  std::size_t row = 0;
  columns.words(reports::TableColumn{.title = "#", .number = true, .room = harness::Room::key},
                [&](const TunedCall&) { return std::to_string(++row); });
  columns.keys("call", call_text);
  columns.words(reports::TableColumn{.title = "calls", .number = true, .room = harness::Room::key},
                [](const TunedCall& call) { return number_text(call.calls); });
  const auto seconds = [](SimTime time) { return std::optional<double>(time.seconds()); };
  reports::add_compared(
      table, "s",
      {{"now",
        reports::each(tuning.calls, [&](const TunedCall& call) { return seconds(call.now.time); })},
       {"best", reports::each(tuning.calls,
                              [&](const TunedCall& call) { return seconds(call.best.time); })}});
  columns.words(reports::TableColumn{.title = "gain", .number = true, .room = harness::Room::key},
                [](const TunedCall& call) { return faster(call.gain()); });
  columns.words(reports::TableColumn{.title = "of all",
                                     .number = true,
                                     .room = harness::Room::key,
                                     .meaning = "gain of the whole if nothing else is changed"},
                [](const TunedCall& call) { return fmt::format("{:.3f}x", call.gain_of_whole()); });
  columns.words(reports::TableColumn{.title = "errors",
                                     .unit = "%",
                                     .number = true,
                                     .meaning = "expected ones, of now and of best"},
                [](const TunedCall& call) {
                  return fmt::format("{}, {}", in_percent(call.now.error),
                                     in_percent(call.best.error));
                });
  columns.words("types", types_text);
  columns.words("places", places_text);
  const bool turns = std::ranges::any_of(tuning.calls, [](const TunedCall& call) {
    const MatmulAttributes* const product = product_of(call);
    return product != nullptr && (product->transpose_a || product->transpose_b);
  });
  if (turns) table.notes.emplace_back("A', B': stored with rows and columns swapped");
  return table;
}

reports::Table arguments_table(const WorkTuning& tuning) {
  reports::Table table{.caption = "best configurations"};
  const reports::RowColumns columns(table, tuning.calls);
  std::size_t row = 0;
  columns.words(reports::TableColumn{.title = "#", .number = true, .room = harness::Room::key},
                [&](const TunedCall&) { return std::to_string(++row); });
  columns.keys("configuration", [](const TunedCall& call) { return arguments_text(call.best); });
  columns.words("now", [](const TunedCall& call) { return arguments_text(call.now); });
  return table;
}

}  // namespace

std::string answer_text(const WorkTuning& tuning) {
  if (tuning.calls.empty()) {
    return fmt::format("{}, and no other configuration gains more than its expected error",
                       reports::format_time(tuning.time));
  }
  return fmt::format("{} now, {} with the configurations below: {}",
                     reports::format_time(tuning.time), reports::format_time(tuning.best_time),
                     faster(tuning.gain()));
}

std::string left_out_text(const WorkTuning& tuning) {
  return fmt::format(
      "distinct calls: {}; left out: {} that would gain less than their expected "
      "error, and {} that would gain nothing",
      tuning.distinct, tuning.below_error, tuning.best_already);
}

std::string call_text(const TunedCall& call) {
  const Program& program = call.program;
  if (const MatmulAttributes* const product = product_of(call)) {
    const Shape& a = program.inputs[0].spec.shape;
    const Shape& out = program.outputs[0].spec.shape;
    const std::string batch = out.batch() == 1 ? "" : fmt::format("{}x", out.batch());
    std::string text = fmt::format("{} {}{}x{}x{}", program.name, batch, out.rows(),
                                   product->transpose_a ? a.rows() : a.columns(), out.columns());
    if (product->transpose_a) text += " A'";
    if (product->transpose_b) text += " B'";
    if (program.inputs.size() > 2) text += " bias";
    if (product->activation) text += fmt::format(" {}", name_of(product->activation->function));
    return text;
  }
  return fmt::format("{} {}", program.name, program.inputs[0].spec.shape.text());
}

std::string arguments_text(const ArgumentsInPlace& arguments) {
  if (std::holds_alternative<MatmulAttributes>(arguments.attributes)) {
    return arguments.matmul ? text_of(config_of(*arguments.matmul)) : "";
  }
  std::vector<std::string> words;
  for (const auto& [name, value] : tuned_arguments(arguments.attributes)) {
    words.push_back(fmt::format("{}={}", name, value));
  }
  return join(words, " ");
}

std::vector<reports::Table> work_tuning_tables(const WorkTuning& tuning, const std::string& what) {
  std::vector<reports::Table> tables{calls_table(tuning, what)};
  tables[0].notes.push_back(left_out_text(tuning));
  tables[0].notes.insert(tables[0].notes.end(), tuning.notes.begin(), tuning.notes.end());
  if (!tuning.calls.empty()) tables.push_back(arguments_table(tuning));
  return tables;
}

harness::ExperimentResult work_tuning_result(const WorkTuning& tuning,
                                             const harness::RunContext& context) {
  harness::ExperimentResult result{
      .experiment = name_of(harness::CommandResult::tune), .context = context, .points = {}};
  std::map<std::string, int> alike;  // Shards may differ in more than the point says.
  for (const TunedCall& call : tuning.calls) {
    harness::PointResult point{.backend = harness::Backend::emulated, .parameters = {}};
    const int number = ++alike[call_text(call) + types_text(call) + places_text(call)];
    point.parameters.emplace_back(
        "call", call_text(call) + (number == 1 ? "" : fmt::format(" ({})", number)));
    point.parameters.emplace_back("types", types_text(call));
    point.parameters.emplace_back("places", places_text(call));
    point.metrics.push_back(exact_time("time", call.best.time));
    point.metrics.push_back(exact_time("own_time", call.now.time));
    point.metrics.push_back(exact_time("whole_time", call.best.whole));
    const auto add = [&](std::string name, double value, harness::Better better) {
      point.metrics.push_back(
          {.name = std::move(name), .value = value, .unit = "1", .better = better});
    };
    add("calls", call.calls, harness::Better::lower);
    add("gain", call.gain(), harness::Better::higher);
    add("gain_of_whole", call.gain_of_whole(), harness::Better::higher);
    add("own_expected_error", call.now.error, harness::Better::lower);
    add("expected_error", call.best.error, harness::Better::lower);
    point.details.emplace_back("config", arguments_text(call.best));
    point.details.emplace_back("own_config", arguments_text(call.now));
    result.points.push_back(std::move(point));
  }
  return result;
}

}  // namespace howard::experiments
