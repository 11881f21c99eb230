// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/bands.h"
#include "engines/ops/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/check.h"
#include "base/json_node.h"
#include "engines/chip/calibration/function_fit.h"
#include "engines/chip/calibration/measurements.h"
#include "engines/chip/emulated_chip.h"
#include "engines/program/program.h"

namespace howard::calibration {

// The build generates this from bands.json.
namespace embedded {
extern const std::string_view bands;
extern const std::string_view bands_blackhole;
}  // namespace embedded

namespace {

constexpr std::string_view kWormhole = "wormhole_b0";
constexpr std::string_view kBlackhole = "blackhole";

/// Returns a chip of the family that is measured.
chip::ProfileChoice chip_of(std::string_view architecture) {
  if (architecture != kBlackhole) return {};
  return {.profiles = {"blackhole_p100a"}, .settings = {}};
}

constexpr std::array kBestFirst{Known::calibrated, Known::interpolated, Known::one_kernel,
                                Known::by_analogy};

constexpr std::tuple kBandFields{
    json_field("name", &Band::name),
    json_field("known", &Band::known,
               [](const JsonNode& node) {
                 return kBestFirst.at(
                     node.word({"calibrated", "interpolated", "one kernel", "by analogy"}));
               }),
    json_field("band", &Band::share),
    json_field("source", &Band::source),
};

std::vector<Band> parse_bands(std::string_view text, std::string_view architecture) {
  const JsonDocument document(text, {.attempted = "read bands.json"});
  std::vector<Band> bands;
  document.root().member("bands").read(bands, kBandFields);
  for (Band& band : bands) band.architecture = architecture;
  return bands;
}

const Band& band_named(std::string_view name, std::string_view architecture) {
  const std::vector<Band>& bands = built_in_bands(architecture);
  const auto found = std::ranges::find(bands, name, &Band::name);
  HOWARD_CHECK(found != bands.end(), "bands.json has the bands that are asked for");
  return *found;
}

/// Says whether few rows are like a plan. The rows behind the band of products are of one product
/// each, on all cores, with operands as they are stored.
bool is_of_few_rows(const chip::MatmulPlan& plan) {
  return plan.batch > 1 || plan.problem.transposed_a || plan.problem.transposed_b ||
         plan.problem.bias || plan.config.kind == MatmulKind::reuse;
}

/// Says what the built-in tables have rows of.
struct MeasuredOps {
  /// The programs of each constant of elementwise functions.
  std::map<std::string_view, std::set<std::string>> functions;
  /// The programs of each op that is no product either.
  std::map<std::string, std::set<std::string>, std::less<>> others;
};

/// Adds the programs of a table of kernels; of the functions, it adds only those whose constant
/// `takes` accepts.
void add_measured(const MeasurementTable& table, const std::function<bool(std::string_view)>& takes,
                  MeasuredOps& measured) {
  // Kernels of logs had all cores of the chip.
  chip::EmulatedChip device(chip::load_profiles(), {.dispatch = chip::DispatchCoreType::eth});
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string& text = table.text(row, "program");
    const Program program = ops::parse_program(text, parse_data_type(table.text(row, "dtype")));
    if (const auto* const eltwise = std::get_if<EltwiseAttributes>(&program.attributes)) {
      const std::string_view cost = entry_of(eltwise->function).cost;
      if (takes(cost)) measured.functions[cost].insert(text);
    } else if (!std::holds_alternative<MatmulAttributes>(program.attributes)) {
      measured.others[std::string(device.explain(program).op)].insert(text);
    }
  }
}

MeasuredOps find_measured(std::string_view architecture) {
  MeasuredOps measured;
  const chip::Constants software = chip::load_constants(chip_of(architecture)).software;
  // The constants with bounds belong to older kernels than those in the table of functions.
  const auto is_calibrated = [&](std::string_view cost) {
    return software.at(fmt::format("tiles.{}", cost)).bounds.has_value();
  };
  for (const MeasurementTable& table : built_in_measurements(software)) {
    if (table.kind == "op_kernel") add_measured(table, is_calibrated, measured);
  }
  add_measured(function_measurements(architecture), std::not_fn(is_calibrated), measured);
  const auto no_function = [](std::string_view) { return false; };  // these rows fit none
  add_measured(shard_measurements(architecture), no_function, measured);
  return measured;
}

const MeasuredOps& measured_ops(std::string_view architecture) {
  static const MeasuredOps wormhole = find_measured(kWormhole);
  if (architecture != kBlackhole) return wormhole;
  static const MeasuredOps blackhole = find_measured(kBlackhole);
  return blackhole;
}

const Band& band_of_function(Eltwise function, std::string_view architecture) {
  const EltwiseEntry& entry = entry_of(function);
  const MeasuredOps& measured = measured_ops(architecture);
  const auto found = measured.functions.find(entry.cost);
  if (found == measured.functions.end() || !entry.nearest.empty()) {
    return band_named("no row", architecture);
  }
  return band_named(found->second.size() > 1 ? "elementwise" : "elementwise of one row",
                    architecture);
}

}  // namespace

const std::vector<Band>& built_in_bands(std::string_view architecture) {
  static const std::vector<Band> wormhole = parse_bands(embedded::bands, kWormhole);
  static const std::vector<Band> blackhole = parse_bands(embedded::bands_blackhole, kBlackhole);
  return architecture == kBlackhole ? blackhole : wormhole;
}

const Band& band_of(const chip::PlannedProgram& planned, std::string_view architecture) {
  const auto named = [&](std::string_view name) -> const Band& {
    return band_named(name, architecture);
  };
  if (planned.learnt != nullptr) return *planned.learnt;
  if (planned.predicted) return analogy_band(architecture);
  if (planned.matmul && is_of_few_rows(*planned.matmul)) {
    return named("product of a kind with few rows");
  }
  if (planned.matmul) return named("product");
  if (planned.op == AllGatherAttributes::kName || planned.op == ReduceScatterAttributes::kName)
    return named("collective");
  if (const auto function = find_eltwise(planned.op)) {
    return band_of_function(*function, architecture);
  }
  const auto& measured = measured_ops(architecture).others;
  const auto rows = measured.find(planned.op);
  if (rows == measured.end()) return analogy_band(architecture);
  return named(rows->second.size() > 1 ? "few rows" : "one row");
}

const Band& dispatch_band(std::string_view architecture) {
  return band_named("dispatch", architecture);
}
const Band& analogy_band(std::string_view architecture) {
  return band_named("no row", architecture);
}
const Band& host_band() { return band_named("host", kWormhole); }

}  // namespace howard::calibration
