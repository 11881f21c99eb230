// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "engines/program/tensor_spec.h"
#include "experiments/axes/axes.h"
#include "experiments/laboratory/devbox.h"
#include "harness/experiment.h"

namespace howard::experiments {

/// Holds a case, or why it cannot run on this machine and what to install.
using PreparedCase = std::variant<std::unique_ptr<harness::Case>, harness::NotApplicable>;

/// Describes the report's MLP for its Python engine: two layers without biases.
struct PythonMlp {
  std::int64_t batch = 1024;
  std::int64_t width = 512;
  DataType dtype = DataType::bfloat16;
};

/// Returns steps of the Python engine on the host, in a process of its own, which times them. Each
/// is over when it has run. The point gets their losses, as training_loss.h says. Throws Error if
/// the process fails or its time limit passes.
PreparedCase python_mlp_on_host(const DevBox& box, const PythonMlp& model);

enum class TorchModel : std::uint8_t { mlp, gpt2, llama };

/// Says how PyTorch computes.
enum class TorchNumbers : std::uint8_t {
  fp32,
  autocast,   ///< float32 parameters, bfloat16 products.
  pure_bf16,  ///< Parameters in bfloat16 too, where small updates are lost.
};

/// Returns how PyTorch computes with the same types.
TorchNumbers torch_numbers(const TrainingTypes& types);

/// Describes a step of PyTorch on the host: forward, backward, SGD or, for a Llama, AdamW.
struct TorchStep {
  TorchModel model = TorchModel::mlp;
  std::int64_t batch = 1024;
  std::int64_t width = 512;  ///< The MLP's, or GPT-2's embedding: 384, a multiple of 64.
  int layers = 2;            ///< The MLP's layers, or the blocks of the others.
  TorchNumbers numbers = TorchNumbers::fp32;
  bool compiled = false;  ///< True if torch.compile makes both passes.
  /// Further arguments of torch_peer.py: the other sizes of a Llama, and its optimizer.
  std::vector<std::string> arguments{};
};

/// Runs in a process of its own, with as many threads as the host engine. They are one pool, bound
/// and spinning, and memory stays with the process. Errors are those of the
/// Python engine's steps.
PreparedCase torch_case(const DevBox& box, const TorchStep& step);

}  // namespace howard::experiments
