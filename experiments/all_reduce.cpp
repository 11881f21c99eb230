// SPDX-License-Identifier: Apache-2.0
//
// Question: what does a sum over several chips take, which each gradient of a data-parallel
// training needs (multi_device)?
//
// tt-metal publishes times of its all_reduce on lines of Wormhole chips. Here an all_reduce is a
// reduce_scatter and an all_gather, whose starts and steps come from tt-metal's formulas for a line
// of eight and whose rates come from its largest buffers; no constant is of an all_reduce, and the
// times of small buffers are predicted. Sets of chips in both meshes, which share no
// link, are summed through the host (gradient_exchange.h).
//
// Timing: nothing is timed; the time is the closed form of one sum.

#include <utility>

#include "experiments/axes/axes.h"
#include "experiments/cases/finding.h"
#include "experiments/laboratory/devbox.h"
#include "experiments/laboratory/experiment_list.h"
#include "experiments/meshes/chip_mesh.h"
#include "experiments/meshes/gradient_exchange.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::CellSource;
using harness::Parameters;

class SumFinding final : public Finding {
 public:
  SumFinding(std::shared_ptr<const DevBox> box, const Parameters& parameters)
      : box_(std::move(box)),
        chips_(parse_chips(*harness::find_parameter(parameters, "devices"))),
        size_(1024 * count_of(parameters, "kib")) {}

  void run() override {
    const SimTime time = sum_time(box_->profiles(), chips_, size_);
    const auto chips = static_cast<double>(chips_.size());
    const auto add = [&](std::string name, double value, std::string unit) {
      found_.metrics.push_back({.name = std::move(name), .value = value, .unit = std::move(unit)});
    };
    add("time", time.seconds(), "s");
    found_.metrics.back().virtual_time = time;
    add("size", static_cast<double>(size_.value()), "B");
    if (time == SimTime()) return;  // if the constants are set to nothing
    const double sent = 2 * (chips - 1) / chips * static_cast<double>(size_.value());
    add("link_rate", sent / time.seconds(), "B/s");
    found_.metrics.back().better = harness::Better::higher;
  }

 private:
  std::shared_ptr<const DevBox> box_;
  ChipSet chips_;
  Bytes size_;
};

class AllReduce final : public harness::Experiment {
 public:
  explicit AllReduce(std::shared_ptr<const DevBox> box) : box_(std::move(box)) {}

  std::string_view name() const override { return "all_reduce"; }
  std::string_view question() const override {
    return "How long does a sum over several chips take, beside published times?";
  }

  std::vector<harness::Axis> axes(Backend backend) const override {
    if (backend == Backend::host) return {};
    return {devices_axis({"0+4", "0+1+4+5"}, {"0+4"}),
            count_axis("kib", "size of the buffer, in KiB", {"64", "1024", "16384"}, {"1024"})};
  }

  harness::VirtualTiming timing() const override { return {.warmup = 0, .iterations = 0}; }

  harness::Presentation presentation() const override {
    return {.timed = "one sum",
            .columns = {{"devices", CellSource::parameter, "devices"},
                        {"KiB", CellSource::parameter, "kib"},
                        {"time", CellSource::metric, "time"},
                        {"published", CellSource::reference, ""},
                        {"error", CellSource::error, ""},
                        {"rate of a link", CellSource::metric, "link_rate"}},
            .plots = {{.title = "A sum over several chips",
                       .x_label = "size of the buffer",
                       .y_label = "time",
                       .x = "size",
                       .y = "time",
                       .series = {"devices"}}}};
  }

  std::variant<std::unique_ptr<harness::Case>, harness::NotApplicable> prepare(
      Backend /*backend*/, const Parameters& parameters) const override {
    if (parse_chips(*harness::find_parameter(parameters, "devices")).size() == 1) {
      return harness::NotApplicable{"one chip has nothing to sum"};
    }
    return std::make_unique<SumFinding>(box_, parameters);
  }

 private:
  std::shared_ptr<const DevBox> box_;
};

}  // namespace

std::unique_ptr<harness::Experiment> all_reduce(std::shared_ptr<const DevBox> box) {
  return std::make_unique<AllReduce>(std::move(box));
}

}  // namespace howard::experiments
