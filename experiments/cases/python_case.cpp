// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/python_case.h"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/host/instruction_set.h"
#include "engines/host/openblas_kernels.h"
#include "engines/python/installation.h"
#include "engines/python/peer_process.h"
#include "experiments/cases/training_loss.h"

namespace howard::experiments {
namespace {

using harness::NotApplicable;
using harness::PointResult;
using python::Installation;
using python::PeerCommand;
using python::PeerProcess;
using Environment = decltype(PeerCommand::environment);

/// Runs steps of a process that times itself. The case's clock is the sum of its times.
class PeerCase final : public harness::Case {
 public:
  explicit PeerCase(std::unique_ptr<PeerProcess> peer) : peer_(std::move(peer)) { peer_->pause(); }

  void run() override {
    clock_ += peer_->step();
    // The first step warms up, and the time of this question is in no measured time.
    if (!first_loss_) first_loss_ = peer_->loss();
  }
  void finish() override {
    clock_ += peer_->finish();
    peer_->pause();
  }
  SimTime now() const override { return clock_; }
  void set_trace_sink(EventSink* /*sink*/) override {}

  void describe(double /*seconds*/, PointResult& point) const override {
    if (first_loss_) {
      describe_loss(*first_loss_, peer_->loss(), point);
      // Another program's random numbers make other weights and another batch.
      point.details.back().second += "; weights and data are its own";
      peer_->pause();
    }
    for (const auto& [name, text] : peer_->facts()) {
      if (name == "warning") {
        point.warnings.push_back(text);
      } else {
        point.details.emplace_back(name, text);
      }
    }
  }

 private:
  std::unique_ptr<PeerProcess> peer_;
  std::optional<double> first_loss_;
  SimTime clock_;
};

PreparedCase prepare(std::string name, const std::string& script,
                     std::vector<std::string> arguments, Environment environment,
                     std::function<bool()> stop) {
  const std::optional<Installation> python = python::find_installation();
  if (!python) {
    return NotApplicable{"Python is not there: install python3, then configure and build anew"};
  }
  std::vector<std::string> words{python->interpreter.string(), (python->folder / script).string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto peer = std::make_unique<PeerProcess>(PeerCommand{.name = std::move(name),
                                                        .words = std::move(words),
                                                        .environment = std::move(environment),
                                                        .stop = std::move(stop)});
  if (peer->skipped()) return NotApplicable{*peer->skipped()};
  return std::make_unique<PeerCase>(std::move(peer));
}

std::string_view name_of(TorchModel model) {
  switch (model) {
    case TorchModel::mlp:
      return "mlp";
    case TorchModel::gpt2:
      return "gpt2";
    case TorchModel::llama:
      break;
  }
  return "llama";
}

std::string_view name_of(TorchNumbers numbers) {
  switch (numbers) {
    case TorchNumbers::fp32:
      return "fp32";
    case TorchNumbers::autocast:
      return "autocast";
    case TorchNumbers::pure_bf16:
      return "pure_bf16";
  }
  return "";
}

/// This is Debian's OpenBLAS on the same thread pool as PyTorch, if it is installed. With threads
/// of its own, two pools would fight over the processors.
constexpr std::string_view kOpenMpBlas = "/usr/lib/x86_64-linux-gnu/openblas-openmp";

/// Returns our environment without what would slow the libraries down: a kernel chosen for another
/// CPU halves the speed of OpenBLAS, and its threads inherit a binding of the first one.
Environment torch_environment(int threads) {
  std::map<std::string, std::optional<std::string>> result;
  for (const char* name :
       {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "BLIS_ARCH_TYPE", "ATEN_CPU_CAPABILITY",
        "OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "OMP_WAIT_POLICY"}) {
    result[name] = std::nullopt;
  }
  for (const char* name :
       {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"}) {
    result[name] = std::to_string(threads);
  }
  result["OMP_WAIT_POLICY"] = "active";
  result["OMP_PROC_BIND"] = "true";
  // Freed memory stays with the process, so no temporary costs a system call.
  result["MALLOC_TOP_PAD_"] = "268435456";
  result["MALLOC_MMAP_THRESHOLD_"] = "1073741824";
  result["MALLOC_TRIM_THRESHOLD_"] = "4294967296";
  // The engine may be held to less than the CPU has, and PyTorch then is too. oneDNN's own switch
  // holds for both.
  const host::InstructionSet set = host::best_instruction_set();
  result["OPENBLAS_CORETYPE"] = host::openblas_kernels(set);
  if (set == host::InstructionSet::v3) result["ATEN_CPU_CAPABILITY"] = "avx2";
  if (set == host::InstructionSet::v2) result["ATEN_CPU_CAPABILITY"] = "default";
  std::error_code ignored;
  if (std::filesystem::exists(kOpenMpBlas, ignored)) result["LD_LIBRARY_PATH"] = kOpenMpBlas;
  return {result.begin(), result.end()};
}

}  // namespace

TorchNumbers torch_numbers(const TrainingTypes& types) {
  if (types.compute == DataType::float32) return TorchNumbers::fp32;
  return types.parameters == DataType::bfloat16 ? TorchNumbers::pure_bf16 : TorchNumbers::autocast;
}

PreparedCase python_mlp_on_host(const DevBox& box, const PythonMlp& model) {
  const std::optional<Installation> python = python::find_installation();
  if (python && !python::build_extension(*python, box.stop())) {
    return NotApplicable{"the build of the Python module was stopped"};
  }
  return prepare("the Python engine", "engine_peer.py",
                 {std::to_string(model.batch), std::to_string(model.width),
                  std::string(name_of(model.dtype)), std::to_string(box.host()->threads())},
                 {}, box.stop());
}

PreparedCase torch_case(const DevBox& box, const TorchStep& step) {
  const int threads = box.host()->threads();
  std::vector<std::string> arguments{
      std::string(name_of(step.model)),   std::to_string(step.batch),
      std::to_string(step.width),         std::to_string(step.layers),
      std::string(name_of(step.numbers)), std::to_string(threads),
      std::to_string(box.seed()),         step.compiled ? "compiled" : "eager"};
  arguments.insert(arguments.end(), step.arguments.begin(), step.arguments.end());
  return prepare("PyTorch", "torch_peer.py", std::move(arguments), torch_environment(threads),
                 box.stop());
}

}  // namespace howard::experiments
