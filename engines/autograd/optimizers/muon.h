// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engines/autograd/optimizers/optimizer.h"
#include "engines/autograd/parameter.h"

namespace howard::autograd {

/// The numbers of Muon besides its rate.
struct MuonNumbers {
  float momentum = 0.95F;
  int iterations = 5;  ///< Of Newton and Schulz.

  friend bool operator==(const MuonNumbers&, const MuonNumbers&) = default;
};

/// TTML's Muon: p -= learning_rate x, where x is the momentum's matrix made nearly orthogonal. With
/// b = momentum b + g it begins with x = b / (|b| + 1e-7), and each iteration makes x = 3.4445 x +
/// (-4.775 a + 2.0315 a^2) x of a = x x^T, for the transpose if there are more rows than columns.
/// The calls and their order are those of TTML in June 2026 (MuonComposite).
class Muon final : public Optimizer {
 public:
  /// `parameters` must outlive this object.
  Muon(const Calls& calls, std::vector<Parameter*> parameters, float rate,
       const MuonNumbers& numbers);

  void step(const Calls& calls) override;
  /// Returns the momentum of a parameter.
  std::vector<KeptTensor> kept(std::size_t parameter) const override;

 private:
  ops::Tensor orthogonal(const Calls& calls, const ops::Tensor& b) const;

  std::vector<Parameter*> parameters_;
  MuonNumbers numbers_;
  std::vector<ops::Tensor> buffers_;
};

}  // namespace howard::autograd
