// SPDX-License-Identifier: Apache-2.0
#include "engines/language/weights/model_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/language/weights/weight_names.h"

namespace howard::language {
namespace {

using autograd::Parameter;

/// A matrix, row by row.
struct Rows {
  std::int64_t rows = 0, columns = 0;
  std::vector<float> values;

  std::span<float> row(std::int64_t i) {
    return std::span(values).subspan(static_cast<std::size_t>(i * columns),
                                     static_cast<std::size_t>(columns));
  }
};

Rows transposed_rows(const Rows& from) {
  Rows to{from.columns, from.rows, std::vector<float>(from.values.size())};
  for (std::int64_t i = 0; i < from.rows; ++i) {
    for (std::int64_t j = 0; j < from.columns; ++j) {
      to.values[static_cast<std::size_t>(j * from.rows + i)] =
          from.values[static_cast<std::size_t>(i * from.columns + j)];
    }
  }
  return to;
}

/// Reorders the rows of each of `heads` heads, from halves (i, i + d/2) to pairs (2i, 2i + 1) or
/// back.
Rows paired_rows(Rows from, int heads, bool to_pairs) {
  if (from.rows == 1) return transposed_rows(paired_rows(transposed_rows(from), heads, to_pairs));
  Rows to = from;
  const std::int64_t width = from.rows / heads;
  for (std::int64_t row = 0; row < from.rows; ++row) {
    const std::int64_t inside = row % width;
    const std::int64_t pair = inside < width / 2 ? 2 * inside : 2 * (inside - width / 2) + 1;
    const std::int64_t other = row - inside + pair;
    std::ranges::copy(from.row(to_pairs ? row : other), to.row(to_pairs ? other : row).begin());
  }
  return to;
}

/// Returns the file that has a tensor, and the name that it has there, with the prefix or without.
std::optional<std::pair<const Safetensors*, std::string>> find_weight(
    std::span<const Safetensors> files, const std::string& prefix, const std::string& name) {
  for (const Safetensors& file : files) {
    for (const std::string& one : {name, prefix + name}) {
      if (file.has(one)) return std::pair(&file, one);
    }
  }
  return std::nullopt;
}

Rows rows_of_file(const WeightTensor& tensor, const WeightSource& source) {
  const auto& shape = tensor.shape;
  const bool matrix = shape.size() == 2;
  Rows rows{matrix ? shape[0] : 1,
            matrix ? shape[1] : static_cast<std::int64_t>(tensor.values.size()), tensor.values};
  if (source.transposed && matrix) rows = transposed_rows(rows);
  const std::int64_t turned = rows.rows == 1 ? rows.columns : rows.rows;
  if (source.paired_heads > 0 && turned % (2 * source.paired_heads) == 0) {
    rows = paired_rows(std::move(rows), source.paired_heads, true);
  }
  return rows;
}

void require_weight_shape(bool fits, const std::string& name, const Rows& rows,
                          const ParameterShape& parameter) {
  if (fits) return;
  throw Error({.attempted = "take the weights of " + parameter.name,
               .value = fmt::format("{} is {} x {}", name, rows.rows, rows.columns),
               .accepted = fmt::format("what fits [{}, {}]", parameter.rows, parameter.columns),
               .hint = "the model file of these weights"});
}

}  // namespace

ImportedWeights import_weights(std::span<const ParameterShape> parameters,
                               const models::ModelOptions& options,
                               std::span<const Safetensors> files, const TakeWeights& take) {
  ImportedWeights report;
  std::set<std::string> used;
  const std::vector<WeightRule> rules = weight_rules(options);
  const std::string prefix = weight_prefix(options);
  for (const ParameterShape& parameter : parameters) {
    const auto rule = std::ranges::find(rules, parameter.name, &WeightRule::parameter);
    std::vector<float> values;
    bool found_all = rule != rules.end();
    for (std::size_t i = 0; found_all && i < rule->sources.size(); ++i) {
      const WeightSource& source = rule->sources[i];
      const auto found = find_weight(files, prefix, source.name);
      found_all = found.has_value();
      if (!found) break;
      used.insert(found->second);
      const Rows rows = rows_of_file(found->first->tensor(found->second), source);
      const bool fits = rows.columns == parameter.columns &&
                        (rule->is_padded ? rows.rows <= parameter.rows : rows.rows == source.rows);
      require_weight_shape(fits, found->second, rows, parameter);
      values.insert(values.end(), rows.values.begin(), rows.values.end());
    }
    if (found_all) {
      take(parameter, values);
    } else if (parameter.name.find("/lora_") == std::string::npos) {
      report.unfilled.push_back(parameter.name);  // adapters are in no such file
    }
  }
  for (const Safetensors& file : files) {
    for (const std::string& name : file.names()) {
      if (!used.contains(name)) report.unused.push_back(name);
    }
  }
  return report;
}

ImportedWeights import_weights(CommandQueue& queue, models::LanguageModel& model,
                               const models::ModelOptions& options,
                               std::span<const Safetensors> files) {
  const std::vector<Parameter*> parameters = model.parameters();
  std::vector<ParameterShape> shapes;
  for (const Parameter* parameter : parameters) {
    const Shape& shape = parameter->value.spec().shape;
    shapes.push_back({parameter->name, shape.rows(), shape.columns()});
  }
  return import_weights(
      shapes, options, files, [&](const ParameterShape& shape, std::span<const float> values) {
        const Parameter& parameter =
            **std::ranges::find(parameters, shape.name, [](const Parameter* p) { return p->name; });
        std::vector<float> all(values.begin(), values.end());
        if (std::ssize(all) < shape.rows * shape.columns) {
          const std::vector<float> now = autograd::read_values(queue, parameter.value);
          all.insert(all.end(), now.begin() + std::ssize(all), now.end());
        }
        autograd::write_values(queue, parameter.value, all);
      });
}

std::map<std::string, WeightTensor> exported_weights(std::span<const NamedValues> parameters,
                                                     const models::ModelOptions& options,
                                                     std::int64_t vocabulary) {
  std::map<std::string, WeightTensor> tensors;
  const std::vector<WeightRule> rules = weight_rules(options);
  for (const auto& [name, values] : parameters) {
    const auto rule = std::ranges::find(rules, name, &WeightRule::parameter);
    if (rule == rules.end()) continue;
    const auto size = static_cast<std::int64_t>(values.size());
    std::int64_t rows_of_all = 0;
    for (const WeightSource& source : rule->sources) rows_of_all += source.rows;
    const std::int64_t columns = rule->is_padded ? options.width : size / rows_of_all;
    std::int64_t first = 0;
    for (const WeightSource& source : rule->sources) {
      const std::int64_t count =
          rule->is_padded ? std::min(size / columns, vocabulary) : source.rows;
      const auto begin = values.begin() + first * columns;
      Rows rows{count, columns, {begin, begin + count * columns}};
      first += count;
      if (source.paired_heads > 0) rows = paired_rows(std::move(rows), source.paired_heads, false);
      if (source.transposed) rows = transposed_rows(rows);
      const bool vector = source.rows == 1;
      const bool is_head = source.name == "lm_head.weight";
      tensors[(is_head ? "" : weight_prefix(options)) + source.name] = {
          .shape = vector ? std::vector{rows.columns} : std::vector{rows.rows, rows.columns},
          .values = std::move(rows.values)};
    }
  }
  return tensors;
}

}  // namespace howard::language
