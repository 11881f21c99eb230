// SPDX-License-Identifier: Apache-2.0
//
// Question: how fast does a language model run on a card?
//
// tt-metal publishes, for its tt_transformers, how many tokens a second a user gets and how long he
// waits for the first one. A model is a config.json of Hugging Face, or one of those that are built
// in; no weights are needed. The calls of a step are those of tt_transformers (language_models/):
// its formats for performance or accuracy, its grids and its shards. A step of all layers is one
// trace. Chips that hold a model together divide heads, the feed-forward part and the vocabulary.
// No constant is fitted to a model's rate: the kernels' constants come from single kernels, and the
// host's time for a logit from the difference between 32 users and one.
//
// Timing: a step is timed as tt_transformers' demo times it: the inputs are written, the trace is
// replayed, the logits are read back and the host takes the largest of each user. 1 step warms up,
// 2 are timed. The time to the first token is that of one user's prompt, with calls from Python.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "experiments/axes/machines.h"
#include "experiments/cases/kernel_account.h"
#include "experiments/cases/training_case.h"
#include "experiments/experiment.h"
#include "experiments/language_models/memory_account.h"
#include "experiments/language_models/served_model.h"
#include "experiments/questions/what_ifs.h"

namespace howard::experiments {
namespace {

using harness::NotApplicable;

const TypedAxis<LanguageModel> kServedModel{
    .name = "model",
    .meaning = "a known model (llama-3.1-8b, qwen2.5-7b, phi-4, ...), or the path of a config.json",
    .parse = [](std::string_view word) { return model_named(std::string(word)); },
    .print = [](const LanguageModel& model) { return model.name; }};

const TypedAxis<PrecisionMode> kPrecision = choice_axis<PrecisionMode>(
    "mode", "tt_transformers' formats of weights",
    {{"performance", PrecisionMode::performance}, {"accuracy", PrecisionMode::accuracy}});
const TypedAxis<CacheKind> kCacheKind = choice_axis<CacheKind>(
    "cache", "pages for those who are served, or room for 32 users; not set: paged",
    {{"paged", CacheKind::paged}, {"contiguous", CacheKind::contiguous}}, "paged");
const TypedAxis<Sampling> kSampling = choice_axis<Sampling>(
    "sampling",
    "host, device (draws one of the 32 largest) or argmax, on the chip; not set: host, but device "
    "where all chips of a Galaxy hold the model",
    {{"host", Sampling::host}, {"device", Sampling::device}, {"argmax", Sampling::argmax}});
const auto kUsers = count_axis("batch", "users of the chips that hold a model together");
const auto kTokensBefore = count_axis("context", "tokens before the one that is timed");
const auto kPromptTokens =
    count_axis("prompt", "tokens of the prompt of the first token; not set: as many as context");
const auto kRoom = count_axis(
    "room", "tokens of cache for each user; not set: as many as it takes, in units of 1024");
const auto kDataParallel =
    count_axis("dp", "groups of chips that each hold the model; not set: all chips by tp");
const auto kTensorParallel = count_axis(
    "tp", "chips that hold a model together; not set: all chips by dp, or of larger boxes 8");

/// Returns the room for so many tokens: whole thousands, but no more than the model has positions.
std::int64_t room_for(std::int64_t tokens, const LanguageModel& model) {
  constexpr std::int64_t kUnit = 1024;
  const std::int64_t room = kUnit * ceil_div(tokens, kUnit);
  return tokens > model.context ? room : std::min(room, model.context);
}

Serving serving_of(const Point& point) {
  Serving serving{.model = point[kServedModel],
                  .machine = point[kMachine],
                  .mode = point[kPrecision],
                  .batch = point[kUsers],
                  .context = point[kTokensBefore],
                  .cache = point[kCacheKind]};
  serving.prompt = point.get(kPromptTokens, serving.context);
  serving.room =
      point.get(kRoom, room_for(std::max(serving.context + 1, serving.prompt), serving.model));
  const int chips = serving.machine.chips;
  const int group = is_of_galaxy(serving.model, serving.machine) ? chips : serving.machine.group;
  const auto rest = [&](std::int64_t of) { return std::max<std::int64_t>(1, chips / of); };
  serving.tensor_parallel = static_cast<int>(
      point.get(kTensorParallel, point.has(kDataParallel) ? rest(point[kDataParallel]) : group));
  serving.data_parallel = static_cast<int>(point.get(kDataParallel, rest(serving.tensor_parallel)));
  serving.sampling =
      point.get(kSampling, serving.is_on_all_chips() ? Sampling::device : Sampling::host);
  return serving;
}

harness::Presentation served_presentation() {
  using harness::CellSource;
  using harness::Room;
  return {.timed = "a step that writes a token for each user",
          .columns = {{"model", CellSource::parameter, "model"},
                      {"machine", CellSource::parameter, "machine"},
                      {"mode", CellSource::parameter, "mode"},
                      {"batch", CellSource::parameter, "batch"},
                      {"context", CellSource::parameter, "context"},
                      {"prompt", CellSource::parameter, "prompt"},
                      {"cache", CellSource::parameter, "cache"},
                      {"sampling", CellSource::parameter, "sampling"},
                      {"dp", CellSource::parameter, "dp"},
                      {"tp", CellSource::parameter, "tp"},
                      {"step", CellSource::metric, "time"},
                      {"rate", CellSource::metric, "tokens_per_second_per_user", Room::key,
                       "tokens/s of each user"},
                      {"published", CellSource::reference, ""},
                      {"error", CellSource::error, ""},
                      expected_error_column(),
                      {"in all", CellSource::metric, "tokens_per_second", Room::key,
                       "tokens/s of all users"},
                      {"first token", CellSource::metric, "time_to_first_token", Room::key},
                      {"DRAM", CellSource::metric, "memory", Room::key,
                       "what a chip holds, beside its region for traces"},
                      {"bound by", CellSource::detail, "bound_by"},
                      {"trace", CellSource::metric, "trace_bytes", Room::spare,
                       "what a step's trace takes of that region"},
                      {"room for", CellSource::detail, "room_for", Room::spare,
                       "the blocks of the cache, of 32 tokens of a user each, that would fit"}},
          .bar_charts = {{.title = "A token of a language model",
                          .label = "time",
                          .metric = "time",
                          .bars = {"model", "machine", "mode"},
                          .parts = kKernelTimes,
                          .rest = "between kernels, host"}}};
}

std::vector<harness::Axis> inference_axes(const DevBox& box) {
  const WordAxis::Words all = machines_of(box);
  std::vector<harness::Axis> axes{
      kServedModel.with({"llama-3.2-1b", "llama-3.1-8b"}, {"llama-3.1-8b"}),
      kMachine.with(all, {all.front()}),
      kPrecision.with({"performance", "accuracy"}, {"performance"}),
      kUsers.with({"1"}),
      kTokensBefore.with({"128"}),
      kPromptTokens.optional(),
      kRoom.optional(),
      kCacheKind.optional(),
      kSampling.optional(),
      kDataParallel.optional(),
      kTensorParallel.optional()};
  add_change_axes(axes);
  return axes;
}

Prepared prepare_served(const Box& box, const Point& point) {
  Serving serving = serving_of(point);
  const std::string missing = missing_chips(*box, serving.machine);
  if (!missing.empty()) return NotApplicable{missing};
  // Of a table of machines, those are left out whose chips do not divide the model.
  const bool asked = point.has(kDataParallel) || point.has(kTensorParallel);
  if (const auto reason = undivided(serving); reason && !asked) return NotApplicable{*reason};
  require_servable(serving);
  const auto own = box_of(*box, serving.machine);
  const std::string fits =
      fit_text(serving, tensor_memory(own->profiles()), own->profiles().software.trace_region);
  if (fits != "yes") {
    constexpr std::size_t kNo = 4;  // "no: ", what it needs, and what would fit
    return NotApplicable{fmt::format("{} does not fit a chip of {}: {}", serving.model.name,
                                     serving.machine.word, fits.substr(kNo))};
  }
  return std::make_unique<ServedModel>(own, std::move(serving), own_chip(*box, serving.machine),
                                       changes_of(point));
}

/// Returns the changes that write more tokens in a step, which takes longer then.
void add_more_tokens(const Point& point, std::vector<harness::WhatIf>& changes) {
  const std::int64_t users = point[kUsers];
  changes.push_back({.what = fmt::format("tokens of {} users", kMostUsers),
                     .candidates = {},
                     .reason = "there are as many users already",
                     .work = static_cast<double>(kMostUsers) / static_cast<double>(users)});
  if (users < kMostUsers) changes.back().candidates = {{kUsers.at(kMostUsers)}};
  const int chips = point[kMachine].chips;
  const std::int64_t groups = serving_of(point).data_parallel;
  if (groups < chips) {
    changes.push_back({.what = "tokens of a model on each chip",
                       .candidates = {{kDataParallel.at(chips)}},
                       .reason = {},
                       .work = static_cast<double>(chips) / static_cast<double>(groups)});
  }
  if (groups > 1 && point[kMachine].group == chips) {
    changes.push_back({.what = "all chips for one model",
                       .candidates = {{kDataParallel.at(1)}},
                       .reason = {},
                       .work = 1 / static_cast<double>(groups)});
  }
}

std::vector<harness::WhatIf> what_helps_served(const DevBox& box, const Point& point) {
  std::vector<harness::WhatIf> changes{
      set_axis("weights of 4 bits", point, kPrecision, PrecisionMode::performance,
               "its formats are those for performance already"),
      set_axis("sampling on the device", point, kSampling, Sampling::device,
               "the device samples already"),
      set_axis("the largest logit on the device", point, kSampling, Sampling::argmax,
               "the device takes it already"),
      {"DRAM-sharded weights", {}, "the products of a step read their weights so already"}};
  std::ranges::move(larger_machines(point[kMachine], Chips::share_the_work),
                    std::back_inserter(changes));
  add_more_tokens(point, changes);
  const ChangeablePrograms calls(step_of(*box_of(box, point[kMachine]), serving_of(point)));
  std::ranges::move(calls.what_ifs(point), std::back_inserter(changes));
  return changes;
}

}  // namespace

Experiment inference(const Box& box) {
  return {
      .name = "inference",
      .question = "How many tokens a second does a language model write on a card?",
      .axes = inference_axes(*box),
      .timing = {.warmup = 1, .iterations = 2},
      .presentation = served_presentation(),
      .prepare = [=](harness::Backend, const Point& point) { return prepare_served(box, point); },
      .what_ifs = [=](const Point& point) { return what_helps_served(*box, point); }};
}

}  // namespace howard::experiments
