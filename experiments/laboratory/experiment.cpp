// SPDX-License-Identifier: Apache-2.0
#include "experiments/experiment.h"

#include <utility>

namespace howard::experiments {
namespace {

/// Lends the values of an experiment to the harness.
class Runnable final : public harness::Experiment {
 public:
  Runnable(experiments::Experiment value, Box box)
      : value_(std::move(value)), box_(std::move(box)) {
    for (const auto* const axes : {&value_.axes, &value_.host_axes}) {
      for (const harness::Axis& axis : *axes) {
        if (!axis.neutral.empty())
          value_.presentation.neutral.emplace_back(axis.name, axis.neutral);
      }
    }
  }

  std::string_view name() const override { return value_.name; }
  std::string_view question() const override { return value_.question; }
  bool is_tool() const override { return value_.is_tool; }
  bool shares_work() const override { return value_.shares_work; }
  std::vector<harness::Axis> axes(harness::Backend backend) const override {
    return backend == harness::Backend::host ? value_.host_axes : value_.axes;
  }
  harness::VirtualTiming timing() const override { return value_.timing; }
  harness::Presentation presentation() const override { return value_.presentation; }
  std::string_view parts() const override { return value_.parts; }

  Prepared prepare(harness::Backend backend, const harness::Parameters& parameters) const override {
    if (backend == harness::Backend::emulated &&
        Point(parameters)[kDispatch] == chip::DispatchCoreType::eth) {
      if (auto reason = box_->profiles().chip.objection(chip::DispatchCoreType::eth)) {
        return harness::NotApplicable{std::move(*reason)};
      }
    }
    return value_.prepare(backend, parameters);
  }
  std::vector<harness::WhatIf> what_ifs(const harness::Parameters& parameters) const override {
    return value_.what_ifs ? value_.what_ifs(parameters) : std::vector<harness::WhatIf>();
  }
  std::string forewarning(std::span<const harness::PointResult> points) const override {
    return value_.forewarning ? value_.forewarning(points) : "";
  }
  std::vector<harness::Document> documents() const override {
    return value_.documents ? value_.documents() : std::vector<harness::Document>();
  }

 private:
  experiments::Experiment value_;
  Box box_;
};

class Finding final : public harness::Case {
 public:
  explicit Finding(std::function<void(harness::PointResult&)> work) : work_(std::move(work)) {}

  void run() override { work_(found_); }
  void finish() override {}
  SimTime now() const override { return {}; }
  void set_trace_sink(EventSink* /*sink*/) override {}
  void describe(double /*seconds*/, harness::PointResult& point) const override {
    point.metrics = found_.metrics;
    point.details = found_.details;
    point.warnings = found_.warnings;
    point.reference = found_.reference;
  }

 private:
  std::function<void(harness::PointResult&)> work_;
  harness::PointResult found_;
};

}  // namespace

std::unique_ptr<harness::Experiment> runnable(Experiment experiment, const Box& box) {
  return std::make_unique<Runnable>(std::move(experiment), box);
}

std::unique_ptr<harness::Case> finding(std::function<void(harness::PointResult&)> work) {
  return std::make_unique<Finding>(std::move(work));
}

}  // namespace howard::experiments
