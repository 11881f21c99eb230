// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engines/chip/kernels/matmul/matmul_planner.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"
#include "experiments/axes/typed_axis.h"

namespace howard::experiments {

// These are axes that several experiments share.

/// Holds a matrix product's size in elements.
struct ProductShape {
  std::int64_t m = 0, k = 0, n = 0;
};
extern const TypedAxis<ProductShape> kShape;

extern const TypedAxis<chip::DispatchCoreType> kDispatch;

/// The data types of a product: of its first operand, and, where they are other ones, of its second
/// and of its result.
extern const TypedAxis<DataType> kDtype, kWeights, kOutput;
/// Says whether a row is added to a product, and in which data type if not in the result's.
struct Bias {
  bool is_added = false;
  std::optional<DataType> type{};
  friend bool operator==(const Bias&, const Bias&) = default;
};
extern const TypedAxis<Bias> kBias;
chip::MatmulTypes product_types(const Point& point);

/// Says in what types a training step computes on the host.
struct TrainingTypes {
  DataType parameters{};
  DataType compute{};  ///< The type of products and activations.
  friend bool operator==(const TrainingTypes&, const TrainingTypes&) = default;
};

/// Has the values bfloat16 (over float32 parameters), pure_bf16 (bfloat16 parameters too, which
/// lose small updates, as they do on the chip) and float32.
extern const TypedAxis<TrainingTypes> kTrainingTypes;

/// ttnn's choice, or a fidelity.
extern const TypedAxis<std::optional<MathFidelity>> kFidelity;

/// No core grid, or CxR: C columns and R rows.
extern const TypedAxis<std::optional<CoreGrid>> kGrid;

/// ttnn's choice, or a configuration as text_of(MatmulConfig) writes it, for all products or for
/// those of one size.
extern const TypedAxis<std::optional<MatmulConfig>> kConfig;

/// Returns why a point cannot have the core grid that it asks for: the chip has fewer columns or
/// rows under the point's dispatch, or each of its two queues has. ttnn would take all cores
/// without a word. The result is absent if it can.
std::optional<std::string> missing_cores(const chip::ChipProfile& chip, const Point& point);

/// Makes an axis of whole numbers from 1 to 1048576.
TypedAxis<std::int64_t> count_axis(std::string name, std::string meaning, std::string neutral = {});
extern const TypedAxis<std::int64_t> kBatch, kDim, kLayers;

/// Says whether a step is the one that the report's released code runs.
enum class Variant : std::uint8_t { as_published, corrected };
extern const TypedAxis<Variant> kVariant;

/// Who makes the calls of a step; each experiment has some of them.
enum class Engine : std::uint8_t {
  dynamic,         ///< The step function makes them anew each time.
  static_step,     ///< They are the calls that were made once.
  traced,          ///< They are replayed.
  traced_fused,    ///< They are replayed, and the host fuses what it captured.
  python,          ///< The report's engine in Python.
  ttml,            ///< TTML, which is dynamic.
  torch,           ///< PyTorch as it is, on the host.
  torch_compiled,  ///< PyTorch with torch.compile, which needs PyTorch 2.
};
extern const TypedAxis<Engine> kEngine;
inline bool is_torch(Engine engine) {
  return engine == Engine::torch || engine == Engine::torch_compiled;
}

/// Whether calls come from Python, and not from C++.
extern const TypedAxis<bool> kFromPython;

/// A form of a function in TTML: of small ops, or a program of its own.
enum class TtmlForm : std::uint8_t { composite, fused };

/// Whether a captured trace is replayed.
extern const TypedAxis<bool> kTrace;
/// Whether functions do more in one program, as TTML's do.
extern const TypedAxis<bool> kFused;
/// One command queue, or two.
extern const TypedAxis<int> kQueues;

}  // namespace howard::experiments
