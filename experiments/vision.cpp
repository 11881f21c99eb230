// SPDX-License-Identifier: Apache-2.0
//
// Question: how many images, or sequences of tokens, a second does a model take on a card?
//
// tt-metal publishes two rates of ResNet-50, ViT-base, BERT-large and VGG19-UNet: that of the
// kernels of a pass, one after the other without gaps, and that of its demos, in which a trace of
// the pass is replayed by one command queue while another one writes the next inputs. A pass is
// that of the scripts of docs/vision, recorded with weights and shards (recorded_models/). No
// constant is fitted to a model. Of a machine with several chips each has a batch of its own. The
// scripts use the 8x8 cores of a Wormhole chip, and no more of another one.
//
// Timing: 2 passes warm up, 8 are timed with their inputs and one finish behind them. The calls of
// an iteration come from Python. Results are read of VGG19-UNet alone, whose demo waits for them.

#include <algorithm>
#include <iterator>
#include <utility>

#include "experiments/cases/kernel_account.h"
#include "experiments/cases/training_case.h"
#include "experiments/experiment.h"
#include "experiments/questions/what_ifs.h"
#include "experiments/recorded_models/recorded_model.h"

namespace howard::experiments {
namespace {

using harness::NotApplicable;

const WordAxis kPassedModel("model");
const TypedAxis<int> kInputQueues = choice_axis<int>(
    "queues", "command queues: 2 if one of its own writes the inputs", {{"2", 2}, {"1", 1}});

WordAxis::Words names_of_models() {
  WordAxis::Words names;
  for (const RecordedModel& model : recorded_models()) names.emplace_back(model.name);
  return names;
}

const RecordedModel& model_of(const Point& point) {
  return *std::ranges::find(recorded_models(), point[kPassedModel], &RecordedModel::name);
}

harness::Presentation vision_presentation() {
  using harness::CellSource;
  using harness::Room;
  return {.timed = "a pass and the writing of its inputs",
          .columns = {{"model", CellSource::parameter, "model"},
                      {"machine", CellSource::parameter, "machine"},
                      {"queues", CellSource::parameter, "queues"},
                      {"batch", CellSource::detail, "batch", Room::spare, "of each chip"},
                      {"time", CellSource::metric, "time"},
                      {"samples/s", CellSource::metric, "samples_per_second", Room::key,
                       "images or sequences, with their inputs"},
                      {"published", CellSource::reference, ""},
                      {"error", CellSource::error, ""},
                      expected_error_column(),
                      {"kernels", CellSource::metric, "kernel_samples_per_second", Room::spare,
                       "samples/s if kernels ran without gaps"},
                      {"bound by", CellSource::detail, "bound_by"},
                      {"trace", CellSource::metric, "trace_bytes", Room::spare,
                       "what a pass takes of the region for traces"}},
          .bar_charts = {{.title = "A pass of a model of images or text",
                          .label = "time",
                          .metric = "time",
                          .bars = {"model", "queues"},
                          .parts = kKernelTimes,
                          .rest = "between kernels, inputs"}}};
}

std::vector<harness::WhatIf> what_helps_vision(const Point& point) {
  std::vector<harness::WhatIf> changes =
      larger_machines(point[kMachine], Chips::have_work_of_their_own);
  changes.push_back(set_axis("inputs by a second queue", point, kInputQueues, 2,
                             "a second queue writes them already"));
  std::ranges::move(programs_of(model_of(point)).what_ifs(point), std::back_inserter(changes));
  return changes;
}

Prepared prepare_vision(const Box& box, const Point& point) {
  const Machine machine = point[kMachine];
  const std::string missing = missing_chips(*box, machine);
  if (!missing.empty()) return NotApplicable{missing};
  return std::make_unique<RecordedPasses>(*box, model_of(point), machine, point[kInputQueues],
                                          changes_of(point));
}

}  // namespace

Experiment vision(const Box& box) {
  const WordAxis::Words names = names_of_models();
  const WordAxis::Words machines = machines_of(*box);
  std::vector<harness::Axis> axes{
      kPassedModel.of("as a script of docs/vision makes it, with bfloat8_b", names, names,
                      {names.front()}),
      kMachine.with({machines.front()}), kInputQueues.with({"2", "1"}, {"2"})};
  add_change_axes(axes);
  return {
      .name = "vision",
      .question = "How many images or sequences a second does a model take on a card?",
      .axes = axes,
      .timing = {.warmup = 2, .iterations = 8},
      .presentation = vision_presentation(),
      .prepare = [=](harness::Backend, const Point& point) { return prepare_vision(box, point); },
      .what_ifs = what_helps_vision};
}

}  // namespace howard::experiments
