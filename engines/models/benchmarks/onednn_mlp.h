// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "engines/device/tensor_spec.h"

namespace howard::benchmarks {

struct OnednnMlpOptions {
  std::int64_t batch = 0, width = 0;
  float rate = 0;
  int threads = 1;
  DataType compute = DataType::bfloat16;   ///< The type that factors are rounded to.
  DataType products = DataType::bfloat16;  ///< The type that factors are stored and multiplied in.
};

/// A training step of the report's two-layer MLP, written by hand on oneDNN and OpenMP, as somebody
/// would write it who needs this one step to be fast. The bias and the ReLU are post-operations of
/// the products. There is one loop each for the loss with its gradient, the mask with the bias
/// gradients, and the update. Parameters are float32; where the products need a bfloat16 copy, the
/// update also writes that.
class OnednnMlp {
 public:
  explicit OnednnMlp(const OnednnMlpOptions& options);
  ~OnednnMlp();

  void step();
  float loss() const;

 private:
  class Impl;
  template <class E, bool kRounds>
  class Step;
  std::unique_ptr<Impl> impl_;
};

}  // namespace howard::benchmarks
