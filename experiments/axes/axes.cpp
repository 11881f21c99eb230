// SPDX-License-Identifier: Apache-2.0
#include "experiments/axes/axes.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"
#include "engines/device/matmul_config.h"

namespace howard::experiments {
namespace {

using harness::Axis;

[[noreturn]] void refuse_value(std::string_view axis, std::string_view value, std::string accepted,
                               std::string example) {
  throw Error({.attempted = fmt::format("set axis {}", axis),
               .value = fmt::format("'{}'", value),
               .accepted = std::move(accepted),
               .hint = fmt::format("-a {}={}", axis, example)});
}

Axis axis(std::string name, std::string meaning, std::vector<std::string> values,
          std::function<std::string(std::string_view)> canonical) {
  return {.name = std::move(name),
          .meaning = std::move(meaning),
          .values = values,
          .quick_values = std::move(values),
          .canonical = std::move(canonical)};
}

/// Returns an axis of data types of real numbers. `meaning` goes before the list of them.
Axis real_type_axis(const std::string& name, const std::string& meaning,
                    std::vector<std::string> defaults) {
  constexpr const char* kTypes = "bfloat16, float32, bfloat8_b, bfloat4_b";
  return axis(name, meaning + kTypes, std::move(defaults),
              [name](std::string_view value) -> std::string {
                const DataType type = parse_data_type(value);
                if (type == DataType::uint32) refuse_value(name, value, kTypes, "bfloat8_b");
                return std::string(name_of(type));
              });
}

constexpr std::int64_t kLargest = 1 << 20;  // a million rows: far beyond any chip's DRAM

}  // namespace

Axis shape_axis(std::vector<std::string> values, std::vector<std::string> quick_values) {
  return {.name = "shape",
          .meaning = "MxKxN of A[M,K] B[K,N], or N for NxNxN",
          .values = std::move(values),
          .quick_values = std::move(quick_values),
          .canonical = [](std::string_view value) {
            const ProductShape shape = parse_shape(value);
            return fmt::format("{}x{}x{}", shape.m, shape.k, shape.n);
          }};
}

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

Axis dispatch_axis(const std::vector<std::string>& defaults) {
  return harness::word_axis("dispatch", "cores that dispatch: worker (8x7 compute) or eth (8x8)",
                            {"worker", "eth"}, defaults);
}

chip::DispatchCoreType parse_dispatch(std::string_view value) {
  return value == "eth" ? chip::DispatchCoreType::eth : chip::DispatchCoreType::worker;
}

Axis dtype_axis() { return real_type_axis("dtype", "", {"bfloat16"}); }

Axis weights_axis() {
  return harness::optional_axis(
      real_type_axis("weights", "data type of B; not set: that of A; ", {}));
}

Axis output_axis() {
  return harness::optional_axis(
      real_type_axis("output", "data type of the result; not set: that of A; ", {}));
}

chip::MatmulTypes product_types(const harness::Parameters& parameters) {
  const auto type = [&](std::string_view name) {
    const auto value = harness::find_parameter(parameters, name);
    return value ? parse_data_type(*value)
                 : parse_data_type(*harness::find_parameter(parameters, "dtype"));
  };
  const DataType out = type("output");
  const auto bias = harness::find_parameter(parameters, "bias");
  const bool typed = bias && *bias != "no" && *bias != "yes";
  return {.a = type("dtype"),
          .b = type("weights"),
          .out = out,
          .bias = typed ? parse_data_type(*bias) : out};
}

Axis training_dtype_axis() {
  return harness::word_axis("dtype",
                            "bfloat16 over float32 parameters, bfloat16 parameters too, or float32",
                            {"bfloat16", "pure_bf16", "float32"}, {"bfloat16"});
}

TrainingTypes parse_training_types(std::string_view value) {
  if (value == "float32") return {DataType::float32, DataType::float32};
  return {value == "pure_bf16" ? DataType::bfloat16 : DataType::float32, DataType::bfloat16};
}

Axis fidelity_axis() {
  return axis("fidelity", "default (ttnn's choice), LoFi, HiFi2, HiFi3, HiFi4", {"default"},
              [](std::string_view value) -> std::string {
                const auto fidelity = parse_fidelity(value);
                return fidelity ? std::string(name_of(*fidelity)) : "default";
              });
}

std::optional<MathFidelity> parse_fidelity(std::string_view value) {
  if (value == "default") return std::nullopt;
  return parse_math_fidelity(value);
}

Axis grid_axis() {
  return axis("grid", "default (no core grid given), or CxR columns and rows", {"default"},
              [](std::string_view value) -> std::string {
                const auto grid = parse_grid(value);
                return grid ? fmt::format("{}x{}", grid->columns, grid->rows) : "default";
              });
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

Axis config_axis() {
  return harness::optional_axis(
      axis("config",
           "default (ttnn's choice), or a matmul configuration as tune writes it; of products of "
           "one size alone with that before it: 4096x4096x4096@2d:...",
           {}, [](std::string_view value) -> std::string {
             return value == "default" ? "default" : text_of(parse_matmul_config(value));
           }));
}

std::optional<MatmulConfig> config_of(const harness::Parameters& parameters) {
  const auto value = harness::find_parameter(parameters, "config");
  if (!value || *value == "default") return std::nullopt;
  return parse_matmul_config(*value);
}

std::optional<std::string> missing_cores(const chip::ChipProfile& chip,
                                         const harness::Parameters& parameters) {
  const auto grid = parse_grid(harness::find_parameter(parameters, "grid").value_or("default"));
  if (!grid) return std::nullopt;
  const std::string_view dispatch =
      harness::find_parameter(parameters, "dispatch").value_or("worker");
  CoreGrid cores = chip.compute_grid(parse_dispatch(dispatch));
  const bool halves = harness::find_parameter(parameters, "queues") == "2";
  if (halves) cores.columns /= 2;
  if (grid->columns <= cores.columns && grid->rows <= cores.rows) return std::nullopt;
  return fmt::format("the grid {}x{} is not on the chip: {} {}x{} cores with dispatch {}",
                     grid->columns, grid->rows, halves ? "each of two queues has" : "it has",
                     cores.columns, cores.rows, dispatch);
}

Axis count_axis(std::string name, std::string meaning, std::vector<std::string> values,
                std::vector<std::string> quick_values) {
  Axis result = axis(name, std::move(meaning), std::move(values),
                     [name](std::string_view value) -> std::string {
                       const auto count = parse_integer(value);
                       if (!count || *count < 1 || *count > kLargest) {
                         refuse_value(name, value, "a whole number from 1 to 1048576", "2");
                       }
                       return std::to_string(*count);
                     });
  result.quick_values = std::move(quick_values);
  return result;
}

std::int64_t count_of(const harness::Parameters& parameters, std::string_view axis) {
  const auto value = harness::find_parameter(parameters, axis);
  const auto count = value ? parse_integer(*value) : std::nullopt;
  HOWARD_CHECK(count.has_value(), "the point has a value on this axis, which counts");
  return *count;
}

std::string_view parameter_or(const harness::Parameters& parameters, std::string_view axis,
                              std::string_view otherwise) {
  return harness::find_parameter(parameters, axis).value_or(otherwise);
}

Axis variant_axis(std::string meaning, std::vector<std::string> defaults) {
  return harness::word_axis("variant", std::move(meaning), {"as_published", "corrected"},
                            std::move(defaults));
}

}  // namespace howard::experiments
