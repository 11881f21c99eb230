// SPDX-License-Identifier: Apache-2.0
//
// Question: what do several chips make of a training step?
//
// The report ends on it: "if you need true data parallelism across all shapes, use multiple
// devices", each with its own queues. It has no figures. There are three ways to use the chips of
// its box (chip_mesh.h):
//   independent  Each chip runs a training of its own. They share only the host, which has more
//                cores than there are chips; the host's memory is not modelled.
//   weak         One data-parallel training runs on all chips, and each chip has a whole batch.
//   strong       One data-parallel training runs on all chips, which divide one batch.
// Data-parallel chips sum their gradients, one sum for each parameter, between backward pass and
// optimizer. The sums go over the links of a 2x2 mesh at the rates that are published for
// tt-metal's collectives, and through the host from mesh to mesh. `overlap` says whether a sum
// begins when its gradient exists, beside the rest of the backward pass, or when all exist.
//
// Every chip is an emulated device with a host thread of its own. `worth` is the rate in single
// chips on PCIe that have the whole batch, and `efficiency` is `worth` over the number of chips.
//
// Timing: traced. 3 steps warm up and 10 are timed, with one finish at the end; the result is the
// slowest chip's mean.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/text.h"
#include "engines/chip/chip_links.h"
#include "experiments/cases/gpt2_case.h"
#include "experiments/cases/training_case.h"
#include "experiments/experiment.h"
#include "experiments/meshes/chip_mesh.h"
#include "experiments/meshes/gradient_exchange.h"
#include "harness/measurement.h"
#include "profiler/bound.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::CellSource;
using harness::NotApplicable;
using harness::PointResult;

constexpr harness::VirtualTiming kMeshTiming{.warmup = 3, .iterations = 10};

using MakeTraining = std::function<Training(Device&)>;

/// Makes an axis of counts and of the word for the report's size.
TypedAxis<std::optional<std::int64_t>> report_size(const std::string& name) {
  const auto count = count_axis(name, "");
  return {.name = name,
          .meaning = {},
          .parse = [count](std::string_view value) -> std::optional<std::int64_t> {
            if (value == "report") return std::nullopt;
            return count.parse(value);
          },
          .print =
              [](const std::optional<std::int64_t>& size) {
                return size ? std::to_string(*size) : "report";
              }};
}

enum class Mode : std::uint8_t { independent, weak, strong };
const auto kTrainsMlp =
    choice_axis<bool>("workload", "the report's MLP or GPT-2", {{"mlp", true}, {"gpt2", false}});
const auto kMode = choice_axis<Mode>(
    "mode", "a training on each chip, or one: a batch on each, or one divided",
    {{"independent", Mode::independent}, {"weak", Mode::weak}, {"strong", Mode::strong}});
const auto kSumsBeside =
    choice_axis<bool>("overlap", "sums after the backward pass (none) or beside it",
                      {{"none", false}, {"backward", true}});
const auto kReportBatch = report_size("batch"), kReportDim = report_size("dim"),
           kReportLayers = report_size("layers");

/// Describes one of the report's models, at its sizes unless the axes say otherwise.
struct Workload {
  explicit Workload(const Point& point)
      : is_mlp(point[kTrainsMlp]),
        batch(point[kReportBatch].value_or(is_mlp ? 1024 : 32)),
        dim(point[kReportDim].value_or(is_mlp ? 512 : 384)),
        layers(point[kReportLayers].value_or(is_mlp ? 2 : 6)) {}

  MakeTraining of_batch(std::int64_t rows) const {
    const int depth = static_cast<int>(layers);
    if (!is_mlp) {
      const models::Gpt2Options options = gpt2_options(rows, depth, dim);
      return [=](Device& device) { return train_gpt2(device, options); };
    }
    const models::MlpOptions options{.batch = rows, .width = dim, .layers = depth};
    return
        [=](Device& device) { return train_mlp(device, options, models::MlpFunctions::by_layer); };
  }

  bool is_mlp;
  std::int64_t batch, dim, layers;
};

struct Job {
  ChipSet chips;
  std::int64_t batch = 0;  ///< The batch of each chip.
  bool sums = false;       ///< True if the training is data-parallel.
  bool overlapped = false;
};

class MultiDeviceCase final : public harness::Case {
 public:
  MultiDeviceCase(const std::shared_ptr<const DevBox>& box, const Workload& workload,
                  const Job& job)
      : box_(box), remote_(box->with(chip::behind_ethernet(box->profiles()))), job_(job) {
    const MakeTraining make = workload.of_batch(job.batch);
    for (const int chip : job.chips) {
      chips_.push_back(open(is_remote(chip) ? *remote_ : *box_, make));
    }
    const auto alone = open(*box_, workload.of_batch(workload.batch));
    alone_ = measure_virtual(*alone, kMeshTiming);
    batches_ = static_cast<double>(job.batch) * static_cast<double>(job.chips.size()) /
               static_cast<double>(workload.batch);
    if (job.sums) plan_exchange(make);
  }

  void run() override {
    for (const auto& chip : chips_) chip->run();
    ++steps_;
  }
  void finish() override {
    for (const auto& chip : chips_) chip->finish();
  }
  SimTime now() const override {
    SimTime latest;
    for (const auto& chip : chips_) latest = std::max(latest, chip->now());
    return latest + exchange_ * steps_;
  }
  /// Records the first chip only, because the others do the same.
  void set_trace_sink(EventSink* sink) override { chips_.front()->set_trace_sink(sink); }

  void describe(double seconds, PointResult& point) const override {
    const auto count = static_cast<double>(chips_.size());
    const auto add = [&](std::string name, double value, std::string unit, harness::Better better) {
      point.metrics.push_back(
          {.name = std::move(name), .value = value, .unit = std::move(unit), .better = better});
    };
    PointResult chip;
    chips_.front()->describe(seconds, chip);
    using harness::Better;
    const double speedup = alone_.seconds() * batches_ / seconds;
    add("throughput", chip.find_metric("throughput")->value * count, "FLOP/s", Better::higher);
    add("chips", count, "chips", Better::higher);
    add("worth", speedup, "chips", Better::higher);
    add("efficiency", speedup / count, "1", Better::higher);
    for (const auto& [name, time] :
         {std::pair("one_chip_time", alone_), {"exchange_time", exchange_}}) {
      point.metrics.push_back(
          {.name = name, .value = time.seconds(), .unit = "s", .virtual_time = time});
    }
    // A chip that does not wait for others is bound by what it is alone.
    point.add(harness::kBoundBy,
              profiler::bound_by({.whole = seconds,
                                  .kernels = seconds,
                                  .exchange = exchange_.seconds(),
                                  .kernel_word = *chip.find(harness::kBoundBy)}));
    if (job_.sums && chips_.size() > 1) {
      point.details.emplace_back("exchange", exchange_text_);
    }
    point.details.emplace_back("basis", basis());
  }

 private:
  static std::unique_ptr<TrainingCase> open(const DevBox& box, const MakeTraining& make) {
    return std::make_unique<TrainingCase>(
        box, TrainingOptions{.backend = Backend::emulated, .engine = Engine::traced}, make);
  }

  /// The sums start when the slowest chip has got there.
  void plan_exchange(const MakeTraining& make) {
    const auto chip = box_->open_chip();
    const Training training = make(*chip);
    autograd::StepRecorder recorder(*chip);
    static_cast<void>(training.step(recorder));
    const GradientWork work = gradients_of(*chip, recorder);
    SimTime step;
    for (const auto& one : chips_) step = std::max(step, measure_virtual(*one, kMeshTiming));
    exchange_ = exchange_time(box_->profiles(), job_.chips, work, step, job_.overlapped);
    const bool through_host = split_by_mesh(job_.chips).size() > 1;
    exchange_text_ = fmt::format("{} sums of {:.2f} MB in all over {}", work.gradients.size(),
                                 static_cast<double>(work.size().value()) / 1e6,
                                 through_host ? "links and host" : "links");
  }

  std::string basis() const {
    std::string text = "step: as on one chip";
    if (job_.sums && chips_.size() > 1) {
      text += "; sums: published rates of collectives, within 15 % of published times";
      if (job_.overlapped) text += "; overlap: a bound, nothing is published";
      if (split_by_mesh(job_.chips).size() > 1) {
        text += "; host: published transfers, its additions are unknown and not counted";
      }
    }
    if (std::ranges::any_of(job_.chips, is_remote)) {
      text +=
          "; remote chips: published latency and transfers, what the tunnel costs a program is "
          "unknown and not counted";
    }
    return text;
  }

  std::shared_ptr<const DevBox> box_;
  std::shared_ptr<const DevBox> remote_;
  Job job_;
  std::vector<std::unique_ptr<TrainingCase>> chips_;
  SimTime alone_;       ///< A step of the whole batch on one chip on PCIe.
  double batches_ = 0;  ///< The whole batches that all chips together do in a step.
  SimTime exchange_;    ///< The time by which a step of a chip is longer.
  std::int64_t steps_ = 0;
  std::string exchange_text_;
};

harness::Presentation multi_device_presentation() {
  const auto plot = [](std::string title, std::string y, std::string label) {
    return harness::Plot{.title = std::move(title),
                         .x_label = "chips",
                         .y_label = std::move(label),
                         .x = "chips",
                         .y = std::move(y),
                         .series = {"workload", "mode"}};
  };
  return {.timed = "a training step of all chips, one finish after all",
          .columns = {{"workload", CellSource::parameter, "workload"},
                      {"mode", CellSource::parameter, "mode"},
                      {"devices", CellSource::parameter, "devices"},
                      {"overlap", CellSource::parameter, "overlap"},
                      {"batch", CellSource::parameter, "batch"},
                      {"dim", CellSource::parameter, "dim"},
                      {"layers", CellSource::parameter, "layers"},
                      {"time", CellSource::metric, "time"},
                      {"one chip", CellSource::metric, "one_chip_time"},
                      {"exchange", CellSource::metric, "exchange_time"},
                      {"worth", CellSource::metric, "worth", harness::Room::spare,
                       "how many times what one chip alone does in the same time"},
                      {"efficiency", CellSource::metric, "efficiency"},
                      {"rate", CellSource::metric, "throughput"},
                      {"bound by", CellSource::detail, "bound_by"},
                      {"sums", CellSource::detail, "exchange"},
                      {"basis", CellSource::detail, "basis"}},
          .plots = {plot("What several chips do together", "throughput", "rate of all chips"),
                    plot("What each of several chips is worth", "efficiency",
                         "of a chip that works alone")}};
}

Prepared prepare_chips(const Box& box, const Point& point) {
  const Mode mode = point[kMode];
  const Workload workload(point);
  Job job{.chips = point[kDevices],
          .batch = workload.batch,
          .sums = mode != Mode::independent,
          .overlapped = point[kSumsBeside]};
  if (job.overlapped && !job.sums) return NotApplicable{"independent chips sum nothing"};
  const auto count = static_cast<std::int64_t>(job.chips.size());
  if (job.overlapped && count == 1) return NotApplicable{"one chip sums nothing"};
  if (mode == Mode::strong) {
    if (workload.batch % count != 0) {
      return NotApplicable{
          fmt::format("a batch of {} cannot be divided by {} chips", workload.batch, count)};
    }
    job.batch /= count;
  }
  return std::make_unique<MultiDeviceCase>(box, workload, job);
}

}  // namespace

Experiment multi_device(const Box& box) {
  return {.name = "multi_device",
          .question =
              "What do several chips gain, in independent trainings or in one data-parallel one?",
          .axes = {kTrainsMlp.with(kTrainsMlp.choices), kMode.with(kMode.choices),
                   kDevices.with({"0", "0+4", "0+1+4+5", "0+1+2+3+4+5+6+7"}, {"0", "0+4"}),
                   kSumsBeside.with({"none"}),
                   kReportBatch.means("rows, or sequences of 256 tokens; report: 1024, 32")
                       .with({"report"}),
                   kReportDim.means("width; report: 512, 384").with({"report"}),
                   kReportLayers.means("report: 2, 6").with({"report"})},
          .timing = kMeshTiming,
          .presentation = multi_device_presentation(),
          .prepare = [=](Backend, const Point& point) { return prepare_chips(box, point); }};
}

}  // namespace howard::experiments
