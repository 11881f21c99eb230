// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

namespace howard::benchmarks {

/// A training step of the report's two-layer MLP written by hand on oneDNN and OpenMP, as somebody
/// would who needs this one step to be fast: the bias and the ReLU are post-operations of the
/// products, the loss with its gradient, the mask with the bias gradients and the update are one
/// loop each. Products of bfloat16, float32 parameters, of which the update also writes the
/// bfloat16 copy.
class OnednnMlp {
 public:
  OnednnMlp(std::int64_t batch, std::int64_t width, float rate, int threads);
  ~OnednnMlp();

  void step();
  float loss() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace howard::benchmarks
