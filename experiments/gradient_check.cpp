// SPDX-License-Identifier: Apache-2.0
//
// Question: are the gradients right?
//
// The report checked eleven ops, each alone, against float32 PyTorch, and published the largest
// differences of ten. This experiment checks the same ops on the same kind of numbers against
// float64, and says what the check is worth: if every number of the reference is below the
// tolerance, a device that computes zeros passes too. Then it checks what the report left open: the
// gradients of every parameter of whole models, for all engines.
//
// It runs on the host only, because the emulated chip has no arithmetic of its own. What trains on
// the chip has the host's numbers. So a published difference, which comes from the chip's
// arithmetic, stands beside the host's.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "experiments/axes/axes.h"
#include "experiments/cases/finding.h"
#include "experiments/checks/model_checks.h"
#include "experiments/checks/op_checks.h"
#include "experiments/laboratory/devbox.h"
#include "experiments/laboratory/experiment_list.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::CellSource;
using harness::NotApplicable;
using harness::Parameters;

/// Adds a number as ops compute it, which has no unit and is not a ratio.
void add_number(harness::PointResult& point, std::string name, double value) {
  point.metrics.push_back({.name = std::move(name), .value = value, .unit = ""});
}

std::string verdict(bool passes) { return passes ? "passes" : "FAILS"; }

class OpCheckFinding final : public Finding {
 public:
  OpCheckFinding(std::shared_ptr<const DevBox> box, const OpCheck& check, DataType dtype)
      : box_(std::move(box)), check_(check), dtype_(dtype) {}

  void run() override {
    const OpFinding finding = check_op(*box_->host(), check_, dtype_, box_->seed());
    add_number(found_, "max_difference", finding.max_difference);
    add_number(found_, "kernel_difference", finding.kernel_difference);
    add_number(found_, "max_reference", finding.max_reference);
    found_.details = {
        {"kind", "ops"},
        {"tolerance", fmt::format("{} + {} |reference|", check_.absolute, check_.relative)},
        {"verdict", verdict(finding.passes)},
        {"vacuous", finding.zeros_pass ? "yes: zeros pass too" : "no"}};
    if (!finding.passes) found_.warnings.emplace_back("beyond the tolerance");
  }

 private:
  std::shared_ptr<const DevBox> box_;
  const OpCheck& check_;
  DataType dtype_;
};

class ModelCheckFinding final : public Finding {
 public:
  ModelCheckFinding(std::shared_ptr<const DevBox> box, std::string model, DataType dtype)
      : box_(std::move(box)), model_(std::move(model)), dtype_(dtype) {}

  void run() override {
    const ModelFinding finding =
        check_model(*box_->host(), model_, dtype_, static_cast<std::uint32_t>(box_->seed()));
    found_.metrics = {
        {.name = "relative_difference", .value = finding.max_difference, .unit = "1"}};
    found_.details = {
        {"kind", "models"},
        {"worst_parameter", finding.worst_parameter},
        {"parameters", fmt::format("{} in {} tensors", finding.elements, finding.parameters)},
        {"engines", finding.engines_agree ? "dynamic = static = traced" : "DIFFER"},
        {"tolerance", fmt::format("{} of a tensor's largest", finding.allowed)},
        {"verdict", verdict(finding.passes)}};
    if (!finding.passes) found_.warnings.emplace_back("beyond the tolerance");
  }

 private:
  std::shared_ptr<const DevBox> box_;
  std::string model_;
  DataType dtype_;
};

class GradientCheck final : public harness::Experiment {
 public:
  explicit GradientCheck(std::shared_ptr<const DevBox> box) : box_(std::move(box)) {}

  std::string_view name() const override { return "gradient_check"; }
  std::string_view question() const override {
    return "Are the gradients of ops and of whole models right, compared with float64?";
  }

  std::vector<harness::Axis> axes(Backend backend) const override {
    if (backend == Backend::emulated) return {};
    std::vector<std::string> subjects;
    for (const OpCheck& check : op_checks()) subjects.emplace_back(check.op);
    subjects.insert(subjects.end(), checked_models().begin(), checked_models().end());
    return {harness::word_axis("op", "an op alone, or a model with all its parameters", subjects,
                               subjects),
            harness::word_axis("dtype", "type of operands; models keep float32 parameters",
                               {"bfloat16", "float32"}, {"bfloat16", "float32"})};
  }

  harness::VirtualTiming timing() const override { return {.warmup = 0, .iterations = 0}; }

  harness::Presentation presentation() const override {
    return {.columns = {{"op", CellSource::parameter, "op"},
                        {"dtype", CellSource::parameter, "dtype"},
                        {"max diff", CellSource::metric, "max_difference", harness::Room::key},
                        {"published", CellSource::reference, ""},
                        {"of the kernel", CellSource::metric, "kernel_difference"},
                        {"max |reference|", CellSource::metric, "max_reference"},
                        {"max diff / largest", CellSource::metric, "relative_difference"},
                        {"worst parameter", CellSource::detail, "worst_parameter"},
                        {"parameters", CellSource::detail, "parameters"},
                        {"engines", CellSource::detail, "engines"},
                        {"tolerance", CellSource::detail, "tolerance"},
                        {"verdict", CellSource::detail, "verdict", harness::Room::key},
                        {"vacuous", CellSource::detail, "vacuous"}},
            .table_of = "kind"};
  }

  std::variant<std::unique_ptr<harness::Case>, NotApplicable> prepare(
      Backend /*backend*/, const Parameters& parameters) const override {
    const std::string_view subject = *harness::find_parameter(parameters, "op");
    const DataType dtype = parse_data_type(*harness::find_parameter(parameters, "dtype"));
    const auto check = std::ranges::find(op_checks(), subject, &OpCheck::op);
    if (check != op_checks().end()) return std::make_unique<OpCheckFinding>(box_, *check, dtype);
    return std::make_unique<ModelCheckFinding>(box_, std::string(subject), dtype);
  }

 private:
  std::shared_ptr<const DevBox> box_;
};

}  // namespace

std::unique_ptr<harness::Experiment> gradient_check(std::shared_ptr<const DevBox> box) {
  return std::make_unique<GradientCheck>(std::move(box));
}

}  // namespace howard::experiments
