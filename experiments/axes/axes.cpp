// SPDX-License-Identifier: Apache-2.0
#include "experiments/axes/axes.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "engines/program/matmul_config.h"

namespace howard::experiments {
namespace {

[[noreturn]] void refuse_value(std::string_view axis, std::string_view value, std::string accepted,
                               std::string example) {
  throw Error({.attempted = fmt::format("set axis {}", axis),
               .value = fmt::format("'{}'", value),
               .accepted = std::move(accepted),
               .hint = fmt::format("-a {}={}", axis, example)});
}

/// Returns an axis of data types of real numbers. `meaning` goes before the list of them.
TypedAxis<DataType> real_type_axis(const std::string& name, const std::string& meaning) {
  constexpr const char* kTypes = "bfloat16, float32, bfloat8_b, bfloat4_b";
  return {.name = name,
          .meaning = meaning + kTypes,
          .parse =
              [name](std::string_view value) {
                const DataType type = parse_data_type(value);
                if (type == DataType::uint32) refuse_value(name, value, kTypes, "bfloat8_b");
                return type;
              },
          .print = [](const DataType& type) { return std::string(name_of(type)); }};
}

constexpr std::int64_t kLargest = 1 << 20;  // a million rows: far beyond any chip's DRAM

ProductShape parse_shape(std::string_view value) {
  const std::vector<std::string> parts = split(value, 'x');
  std::vector<std::int64_t> sizes;
  for (const std::string& part : parts) {
    const auto size = parse_integer(part);
    if (size && *size >= 1 && *size <= kLargest) sizes.push_back(*size);
  }
  const bool valid = sizes.size() == parts.size() && (sizes.size() == 1 || sizes.size() == 3);
  if (!valid) {
    refuse_value("shape", value, "N or MxKxN, whole numbers from 1 to 1048576",
                 "1024,512x1024x2048");
  }
  if (sizes.size() == 1) return {sizes[0], sizes[0], sizes[0]};
  return {sizes[0], sizes[1], sizes[2]};
}

std::optional<CoreGrid> parse_grid(std::string_view value) {
  if (value == "default") return std::nullopt;
  const std::vector<std::string> parts = split(value, 'x');
  const auto columns = parse_integer(parts.front());
  const auto rows = parse_integer(parts.back());
  constexpr std::int64_t kMost = 64;  // larger than any chip; missing_cores() knows this one
  if (parts.size() != 2 || !columns || !rows || *columns < 1 || *rows < 1 || *columns > kMost ||
      *rows > kMost) {
    refuse_value("grid", value, "default or CxR, 1 to 64 each", "4x7");
  }
  return CoreGrid{static_cast<int>(*columns), static_cast<int>(*rows)};
}

}  // namespace

std::string_view Point::text(std::string_view axis, std::string_view neutral) const {
  if (const auto value = harness::find_parameter(parameters_, axis)) return *value;
  if (!neutral.empty()) return neutral;
  throw Error({.attempted = fmt::format("read axis {} of a point", axis),
               .value = "the point does not have it"});
}

const TypedAxis<ProductShape> kShape{.name = "shape",
                                     .meaning = "MxKxN of A[M,K] B[K,N], or N for NxNxN",
                                     .parse = parse_shape,
                                     .print = [](const ProductShape& shape) {
                                       return fmt::format("{}x{}x{}", shape.m, shape.k, shape.n);
                                     }};

const TypedAxis<chip::DispatchCoreType> kDispatch = choice_axis<chip::DispatchCoreType>(
    "dispatch", "cores that dispatch: worker (8x7 compute) or eth (8x8)",
    {{"worker", chip::DispatchCoreType::worker}, {"eth", chip::DispatchCoreType::eth}}, "worker");

const TypedAxis<DataType> kDtype = real_type_axis("dtype", "");
const TypedAxis<DataType> kWeights =
    real_type_axis("weights", "data type of B; not set: that of A; ");
const TypedAxis<DataType> kOutput =
    real_type_axis("output", "data type of the result; not set: that of A; ");
const TypedAxis<Bias> kBias = choice_axis<Bias>(
    "bias", "whether a row is added: no, yes (of the result's data type), or its data type",
    {{"no", {}},
     {"yes", {.is_added = true}},
     {"bfloat16", {.is_added = true, .type = DataType::bfloat16}},
     {"bfloat8_b", {.is_added = true, .type = DataType::bfloat8_b}},
     {"bfloat4_b", {.is_added = true, .type = DataType::bfloat4_b}},
     {"float32", {.is_added = true, .type = DataType::float32}}},
    "no");

chip::MatmulTypes product_types(const Point& point) {
  const DataType dtype = point[kDtype];
  const DataType out = point.get(kOutput, dtype);
  return {.a = dtype,
          .b = point.get(kWeights, dtype),
          .out = out,
          .bias = point[kBias].type.value_or(out)};
}

const TypedAxis<TrainingTypes> kTrainingTypes = choice_axis<TrainingTypes>(
    "dtype", "bfloat16 over float32 parameters, bfloat16 parameters too, or float32",
    {{"bfloat16", {DataType::float32, DataType::bfloat16}},
     {"pure_bf16", {DataType::bfloat16, DataType::bfloat16}},
     {"float32", {DataType::float32, DataType::float32}}});

const TypedAxis<std::optional<MathFidelity>> kFidelity{
    .name = "fidelity",
    .meaning = "default (ttnn's choice), LoFi, HiFi2, HiFi3, HiFi4",
    .parse = [](std::string_view value) -> std::optional<MathFidelity> {
      if (value == "default") return std::nullopt;
      return parse_math_fidelity(value);
    },
    .print =
        [](const std::optional<MathFidelity>& fidelity) {
          return fidelity ? std::string(name_of(*fidelity)) : "default";
        },
    .neutral = "default"};

const TypedAxis<std::optional<CoreGrid>> kGrid{
    .name = "grid",
    .meaning = "default (no core grid given), or CxR columns and rows",
    .parse = parse_grid,
    .print =
        [](const std::optional<CoreGrid>& grid) {
          return grid ? fmt::format("{}x{}", grid->columns, grid->rows) : "default";
        },
    .neutral = "default"};

const TypedAxis<std::optional<MatmulConfig>> kConfig{
    .name = "config",
    .meaning =
        "default (ttnn's choice), or a matmul configuration as tune writes it; of products of "
        "one size alone with that before it: 4096x4096x4096@2d:...",
    .parse = [](std::string_view value) -> std::optional<MatmulConfig> {
      if (value == "default") return std::nullopt;
      return parse_matmul_config(value);
    },
    .print =
        [](const std::optional<MatmulConfig>& config) {
          return config ? text_of(*config) : "default";
        },
    .neutral = "default"};

std::optional<std::string> missing_cores(const chip::ChipProfile& chip, const Point& point) {
  const auto grid = point[kGrid];
  if (!grid) return std::nullopt;
  CoreGrid cores = chip.compute_grid(point[kDispatch]);
  const bool halves = point[kQueues] == 2;
  if (halves) cores.columns /= 2;
  if (grid->columns <= cores.columns && grid->rows <= cores.rows) return std::nullopt;
  return fmt::format("the grid {}x{} is not on the chip: {} {}x{} cores with dispatch {}",
                     grid->columns, grid->rows, halves ? "each of two queues has" : "it has",
                     cores.columns, cores.rows, kDispatch.print(point[kDispatch]));
}

TypedAxis<std::int64_t> count_axis(std::string name, std::string meaning, std::string neutral) {
  return {.name = name,
          .meaning = std::move(meaning),
          .parse =
              [name](std::string_view value) {
                const auto count = parse_integer(value);
                if (!count || *count < 1 || *count > kLargest) {
                  refuse_value(name, value, "a whole number from 1 to 1048576", "2");
                }
                return *count;
              },
          .print = [](const std::int64_t& count) { return std::to_string(count); },
          .neutral = std::move(neutral)};
}

const TypedAxis<std::int64_t> kBatch = count_axis("batch", "rows of the input");
const TypedAxis<std::int64_t> kDim = count_axis("dim", "width of all layers");
const TypedAxis<std::int64_t> kLayers = count_axis("layers", "linear layers", "2");

const TypedAxis<Variant> kVariant = choice_axis<Variant>(
    "variant", "the calls and buffers of the released code, or the same for all engines",
    {{"as_published", Variant::as_published}, {"corrected", Variant::corrected}}, "as_published");

const TypedAxis<Engine> kEngine = choice_axis<Engine>("engine", "who makes the calls of a step",
                                                      {{"dynamic", Engine::dynamic},
                                                       {"static", Engine::static_step},
                                                       {"traced", Engine::traced},
                                                       {"traced_fused", Engine::traced_fused},
                                                       {"python", Engine::python},
                                                       {"ttml", Engine::ttml},
                                                       {"torch", Engine::torch},
                                                       {"torch_compile", Engine::torch_compiled}},
                                                      "dynamic");

const TypedAxis<bool> kFromPython =
    choice_axis<bool>("calls", "who makes the calls", {{"python", true}, {"cpp", false}});

const TypedAxis<bool> kTrace =
    choice_axis<bool>("trace", "yes: replays of a captured trace; not set: call by call",
                      {{"no", false}, {"yes", true}}, "no");
const TypedAxis<bool> kFused =
    choice_axis<bool>("fused", "yes: TTML's functions, which do more in one program; not set: no",
                      {{"no", false}, {"yes", true}}, "no");
const TypedAxis<int> kQueues = choice_axis<int>("queues", "", {{"1", 1}, {"2", 2}}, "1");

}  // namespace howard::experiments
