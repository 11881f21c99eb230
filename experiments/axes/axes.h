// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/chip/kernels/matmul/matmul_planner.h"
#include "engines/chip/profiles/profile.h"
#include "engines/device/program.h"
#include "harness/axis.h"

namespace howard::experiments {

/// Holds a matrix product's size in elements.
struct ProductShape {
  std::int64_t m = 0, k = 0, n = 0;
};

// These are axes that several experiments share, each with the function that reads its canonical
// values.

harness::Axis shape_axis(std::vector<std::string> values, std::vector<std::string> quick_values);
ProductShape parse_shape(std::string_view value);

/// `defaults` are some of worker and eth.
harness::Axis dispatch_axis(const std::vector<std::string>& defaults = {"worker", "eth"});
chip::DispatchCoreType parse_dispatch(std::string_view value);

harness::Axis dtype_axis();
/// Returns an axis of data types: of a product's second operand, or of its result. Points that do
/// not ask leave them out, and then have the type of axis dtype.
harness::Axis weights_axis();
harness::Axis output_axis();
chip::MatmulTypes product_types(const harness::Parameters& parameters);

/// Says in what types a training step computes on the host.
struct TrainingTypes {
  DataType parameters{};
  DataType compute{};  ///< The type of products and activations.
};

/// Has the values bfloat16 (over float32 parameters), pure_bf16 (bfloat16 parameters too, which
/// lose small updates, as they do on the chip) and float32.
harness::Axis training_dtype_axis();
TrainingTypes parse_training_types(std::string_view value);

/// Has ttnn's choice and the fidelities as values.
harness::Axis fidelity_axis();
std::optional<MathFidelity> parse_fidelity(std::string_view value);

/// The values are no core grid, or CxR: C columns and R rows.
harness::Axis grid_axis();
std::optional<CoreGrid> parse_grid(std::string_view value);

/// Has as values a configuration as text_of(MatmulConfig) writes it, for all products or for those
/// of one size. It is left out of points that do not ask for it.
harness::Axis config_axis();
/// Returns the configuration that axis config of a point gives; absent where ttnn chooses.
std::optional<MatmulConfig> config_of(const harness::Parameters& parameters);

/// Returns why a point cannot have the core grid that it asks for: the chip has fewer columns or
/// rows under the point's dispatch, or each of its two queues has. ttnn would take all cores
/// without a word. The result is absent if it can.
std::optional<std::string> missing_cores(const chip::ChipProfile& chip,
                                         const harness::Parameters& parameters);

/// The values are whole numbers from 1 to 1048576.
harness::Axis count_axis(std::string name, std::string meaning, std::vector<std::string> values,
                         std::vector<std::string> quick_values);
/// Returns the point's value of such an axis; the point must have one.
std::int64_t count_of(const harness::Parameters& parameters, std::string_view axis);

/// Returns the value of an axis of the point, or `otherwise` if the experiment does not have that
/// axis.
std::string_view parameter_or(const harness::Parameters& parameters, std::string_view axis,
                              std::string_view otherwise);

/// The values are as_published and corrected.
harness::Axis variant_axis(std::string meaning, std::vector<std::string> defaults);

}  // namespace howard::experiments
