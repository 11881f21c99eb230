// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "engines/device/tensor_spec.h"
#include "engines/wormhole/profiles/profile.h"
#include "experiments/workloads/devbox.h"
#include "harness/experiment.h"

namespace howard::experiments {

/// A case, or why it cannot run on this machine and what to install.
using PreparedCase = std::variant<std::unique_ptr<harness::Case>, harness::NotApplicable>;

/// The report's MLP for its Python engine: two layers without biases.
struct PythonMlp {
  std::int64_t batch = 1024;
  std::int64_t width = 512;
  DataType dtype = DataType::bfloat16;
};

// Steps of the Python engine in a process of its own, which times them; each is over when it has
// run. The point gets their losses, as training_loss.h says. Error when the process fails, or its
// time limit passes.

PreparedCase python_mlp_on_host(const DevBox& box, const PythonMlp& model);
/// The same on the emulated chip, by its clock; steps follow each other without a finish. `choice`:
/// the profiles of `box`. No values, no events.
PreparedCase python_mlp_on_wormhole(const wormhole::ProfileChoice& choice,
                                    wormhole::DispatchCoreType dispatch, const PythonMlp& model);

enum class TorchModel : std::uint8_t { mlp, gpt2 };

/// How PyTorch computes.
enum class TorchNumbers : std::uint8_t {
  fp32,
  autocast,   ///< float32 parameters, bfloat16 products.
  pure_bf16,  ///< Parameters in bfloat16 too: small updates are lost.
};

/// Of the values of training_dtype_axis(): those that PyTorch computes with the same types.
TorchNumbers parse_torch_numbers(std::string_view dtype);

enum class TorchSetting : std::uint8_t {
  /// One thread pool, whose threads are bound and spin, and memory that stays with the process.
  tuned,
  as_installed,
};

/// A step of PyTorch on the host: forward, backward, SGD.
struct TorchStep {
  TorchModel model = TorchModel::mlp;
  std::int64_t batch = 1024;
  std::int64_t width = 512;  ///< The MLP's, or GPT-2's embedding: 384, a multiple of 64.
  int layers = 2;            ///< The MLP's, or GPT-2's blocks.
  TorchNumbers numbers = TorchNumbers::fp32;
  TorchSetting setting = TorchSetting::tuned;
};

/// In a process of its own, with as many threads as the host engine. Error as above.
PreparedCase torch_case(const DevBox& box, const TorchStep& step);

}  // namespace howard::experiments
