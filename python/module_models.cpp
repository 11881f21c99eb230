// SPDX-License-Identifier: Apache-2.0
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "engines/language/weights/model_weights.h"
#include "engines/models/llama.h"
#include "engines/models/rotary_angles.h"
#include "engines/training/config/ttml_recipe.h"
#include "python/module_device.h"

namespace py = pybind11;

namespace howard::python {
namespace {

using Numbers = py::array_t<float>;

Numbers array_of(std::span<const float> values, std::int64_t rows, std::int64_t columns) {
  Numbers array({rows, columns});
  std::ranges::copy(values, array.mutable_data());
  return array;
}

/// Reads the weights of a model that `config`, the text of a TTML file, describes. Returns the
/// values of each parameter by its name, and the names of what was left aside: tensors that no
/// parameter takes, and parameters that no file has.
py::tuple read_weights(
    const std::string& folder, const std::string& config,
    const std::vector<std::tuple<std::string, std::int64_t, std::int64_t>>& parameters) {
  training::TtmlSettings settings;
  training::read_ttml(config, "the model's configuration", settings);
  std::vector<language::ParameterShape> shapes;
  for (const auto& [name, rows, columns] : parameters) shapes.push_back({name, rows, columns});
  py::dict values;
  const std::vector<language::Safetensors> files = language::read_weights(folder);
  const language::ImportedWeights report = language::import_weights(
      shapes, training::recipe_of(settings).model, files,
      [&](const language::ParameterShape& shape, std::span<const float> found) {
        const std::int64_t rows = static_cast<std::int64_t>(found.size()) / shape.columns;
        values[py::str(shape.name)] = array_of(found, rows, shape.columns);
      });
  return py::make_tuple(values, report.unused, report.unfilled);
}

/// Returns the settings of a model by their names in transformer_config, defaults included, as YAML
/// writes them, and `feed_forward`, the width of a Llama's. Throws Error for what a TTML file could
/// not say.
std::map<std::string, std::string> model_settings(const std::string& config) {
  training::TtmlSettings settings;
  training::read_ttml(config, "the model's configuration", settings);
  const training::Recipe recipe = training::recipe_of(settings);
  const std::int64_t wide = models::feed_forward_of(recipe.model);
  std::map<std::string, std::string> found{{"feed_forward", std::to_string(wide)},
                                           {"dropout", std::to_string(recipe.model.dropout)},
                                           {"theta", std::to_string(recipe.model.theta)}};
  const std::string section = "transformer_config.";
  for (const auto& [key, value] : training::ttml_values(settings.config)) {
    if (key.starts_with(section)) found[key.substr(section.size())] = value;
  }
  return found;
}

models::RopeScaling scaling_of(float factor, float high, float low, std::int64_t length) {
  return {.factor = factor, .high = high, .low = low, .length = length};
}

}  // namespace

void bind_models(py::module_& module) {
  module.def("read_weights", &read_weights);
  module.def("model_settings", &model_settings);
  module.def("rotary_frequencies", [](std::int64_t width, double theta, float factor, float high,
                                      float low, std::int64_t length) {
    return models::rotary_frequencies(width, theta, scaling_of(factor, high, low, length));
  });
  module.def("rotary_angles", [](std::int64_t sequence, std::int64_t width, double theta,
                                 float factor, float high, float low, std::int64_t length) {
    const models::RotaryAngles angles =
        models::rotary_angles(sequence, width, theta, scaling_of(factor, high, low, length));
    return py::make_tuple(array_of(angles.cosines, sequence, width),
                          array_of(angles.sines, sequence, width));
  });
}

}  // namespace howard::python
