// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "engines/autograd/parameter.h"
#include "engines/autograd/tape.h"

namespace howard::models {

/// The report's MLP: linear layers of one width, with a ReLU between two layers, and the mean
/// squared error. Float32 parameters with bfloat16 products keep small updates that bfloat16 would
/// lose. The target, and with it the loss, has the parameters' data type.
struct MlpOptions {
  std::int64_t batch = 1024;
  std::int64_t width = 512;
  int layers = 2;
  DataType parameters = DataType::bfloat16;
  DataType compute = DataType::bfloat16;
};

/// Says how the MLP is divided into functions; the report used different divisions for its engines.
enum class MlpFunctions {
  /// This is for the report's static and traced engines: 12 calls for each layer in a step with
  /// SGD.
  by_layer,
  by_op,           ///< For its dynamic engine: 32 calls and one write for two layers.
  by_fused_layer,  ///< As by_layer, but the product's program adds the bias, as in TTML.
  /// This is for its Python engine: no biases, and weights [in, out]. It makes 20 calls for two
  /// layers, with an Sgd that fills its rate.
  in_python,
};

/// Holds the report's numbers for its static engine. The biases are 0.
struct MlpConstants {
  float weight = 0.01F;
  float input = 0.1F;
  float target = 0.5F;
};

/// Holds the parameters, inputs and targets on a device. They have no values until
/// write_constants() or another write to their buffers.
class Mlp {
 public:
  /// Throws Error for a size below 1.
  Mlp(Device& device, const MlpOptions& options);
  Mlp(const Mlp&) = delete;
  Mlp& operator=(const Mlp&) = delete;

  const MlpOptions& options() const { return options_; }
  std::vector<autograd::Parameter*> parameters();
  const ops::Tensor& input() const { return input_; }    ///< [batch, width]
  const ops::Tensor& target() const { return target_; }  ///< [batch, width]

  void write_constants(CommandQueue& queue, const MlpConstants& constants = {});

  autograd::Value loss(autograd::Tape& tape, MlpFunctions functions);

 private:
  struct Layer {
    autograd::Parameter weight;  ///< [width, width]: out, in
    autograd::Parameter bias;    ///< [1, width]
  };

  static autograd::Value linear(autograd::Tape& tape, autograd::Value x, Layer& layer,
                                MlpFunctions functions);

  MlpOptions options_;
  std::vector<Layer> layers_;
  ops::Tensor input_;
  ops::Tensor target_;
};

}  // namespace howard::models
