// SPDX-License-Identifier: Apache-2.0
#include "python/module_experiments.h"

#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/chip/profiles/profile.h"
#include "experiments/laboratory/laboratory.h"
#include "experiments/logs/log_analysis.h"
#include "experiments/training_plan/fit.h"
#include "python/interruption.h"
#include "reports/formats/result_json.h"

namespace py = pybind11;

namespace howard::python {
namespace {

using experiments::Laboratory;
using experiments::LaboratorySettings;
using harness::Backend;
using Words = std::vector<std::string>;

/// Returns the backends that `word` names. Without a word, it is the emulator for experiments that
/// can run on it.
std::vector<Backend> backends_of(const std::string& word, const harness::Experiment& experiment) {
  const bool has_chip = !experiment.axes(Backend::emulated).empty();
  if (word.empty()) return {has_chip ? Backend::emulated : Backend::host};
  std::vector<Backend> backends;
  for (const std::string& one : split(word, ',')) {
    if (one != "emulated" && one != "host") {
      throw Error({.attempted = "run " + std::string(experiment.name()),
                   .value = "backend '" + word + "'",
                   .accepted = "emulated, host, emulated,host"});
    }
    backends.push_back(one == "host" ? Backend::host : Backend::emulated);
  }
  return backends;
}

void require_within(std::string_view what, double value, const harness::Limits& limits) {
  if (value >= limits.least && value <= limits.most) return;
  throw Error({.attempted = fmt::format("read {}", what),
               .value = fmt::format("{}", value),
               .accepted = fmt::format("{} to {}", limits.least, limits.most)});
}

/// Stops a run when Python was interrupted.
class Interruptible final : public harness::RunObserver {
 public:
  explicit Interruptible(LongWork& work) : work_(work) {}
  bool stop() override { return work_.interrupted(); }

 private:
  LongWork& work_;
};

/// Runs what the words of the command line name. The `plan` has no backends yet.
std::string run(const std::string& name, const std::string& backend, harness::PlanOptions plan,
                const harness::WallOptions& wall, LaboratorySettings settings) {
  require_within("repetitions", wall.repetitions, harness::kRepetitions);
  require_within("min_time", wall.min_time, harness::kSecondsOfARepetition);
  require_within("threads", settings.host.threads, {0, harness::kThreads.most});
  return LongWork::run([&](LongWork& work) {
    settings.stop = [&] { return work.interrupted(); };
    const Laboratory laboratory(settings);
    const harness::Experiment& experiment = laboratory.find(name);
    plan.backends = backends_of(backend, experiment);
    const experiments::PlannedExperiment planned = laboratory.plan(experiment, plan);
    Interruptible observer(work);
    const harness::ExperimentResult result =
        laboratory.run(planned, laboratory.context_of({&planned, 1}), wall, observer,
                       {.threads = experiments::thread_count(settings.host.threads), .others = {}});
    return reports::result_json({&result, 1});
  });
}

std::string explain(const std::string& what, const Words& axes, const chip::ProfileChoice& choice) {
  return LongWork::run([&](LongWork& work) {
    const Laboratory laboratory({.profiles = choice, .stop = [&] { return work.interrupted(); }});
    const harness::ExperimentResult result =
        laboratory.result_of(laboratory.explain({.what = what, .axes = axes, .profiles = choice}));
    return reports::result_json({&result, 1});
  });
}

/// Returns the results of all files as an array.
std::string analyze(const Words& files, bool join, experiments::LogQuestion question) {
  return LongWork::run([&](LongWork&) {
    experiments::LogAnalysis analysis(std::move(question));
    std::vector<harness::ExperimentResult> results;
    const auto add = [&](const experiments::Analyzed& analyzed) {
      std::ranges::move(analysis.results_of(analyzed), std::back_inserter(results));
    };
    if (join) {
      add(analysis.read_joined(files));
    } else {
      for (const std::string& file : files) add(analysis.read(file));
    }
    return reports::result_json(results);
  });
}

/// Returns what `fit` writes. The words choose the engine and the order of stages.
std::string fit(experiments::FitQuestion question, const std::string& engine,
                const std::string& schedule) {
  using training::Engine;
  const std::vector engines{Engine::dynamic, Engine::static_step, Engine::traced};
  const auto found =
      std::ranges::find_if(engines, [&](Engine one) { return training::name_of(one) == engine; });
  if (found == engines.end()) {
    throw Error({.attempted = "choose the engine of a run",
                 .value = "'" + engine + "'",
                 .accepted = "dynamic, static or traced"});
  }
  question.engine = *found;
  question.mesh.schedule = mesh::parse_pipeline_schedule(schedule);
  return LongWork::run(
      [&](LongWork&) { return experiments::fit_json(experiments::fit(question)); });
}

py::list axes_of(const harness::Experiment& experiment, Backend backend) {
  py::list result;
  for (const harness::Axis& axis : experiment.axes(backend)) {
    py::dict entry;
    entry["name"] = axis.name;
    entry["meaning"] = axis.meaning;
    entry["values"] = axis.values;
    result.append(std::move(entry));
  }
  return result;
}

py::list experiments_there_are() {
  const Laboratory laboratory;
  py::list result;
  for (const auto& experiment : laboratory.experiments()) {
    py::dict axes;
    for (const Backend backend : {Backend::emulated, Backend::host}) {
      py::list some = axes_of(*experiment, backend);
      if (!some.empty()) axes[py::str(std::string(name_of(backend)))] = std::move(some);
    }
    py::dict entry;
    entry["name"] = experiment->name();
    entry["question"] = experiment->question();
    entry["axes"] = std::move(axes);
    result.append(std::move(entry));
  }
  return result;
}

void bind_runs(py::module_& module) {
  module.def(
      "run",
      [](const std::string& name, const Words& axes, const std::string& backend, Words profiles,
         Words settings, std::string filter, bool quick, std::uint64_t seed, int repetitions,
         double min_time, int threads) {
        return run(name, backend,
                   {.overrides = harness::parse_axis_overrides(axes),
                    .filter = std::move(filter),
                    .quick = quick},
                   {.repetitions = repetitions, .min_time = min_time},
                   {.profiles = {std::move(profiles), std::move(settings)},
                    .host = {.threads = threads},
                    .seed = seed});
      },
      py::arg("name"), py::arg("axes"), py::arg("backend"), py::arg("profiles"),
      py::arg("settings"), py::arg("filter"), py::arg("quick"), py::arg("seed"),
      py::arg("repetitions"), py::arg("min_time"), py::arg("threads"));
  module.def(
      "explain",
      [](const std::string& what, const Words& axes, Words profiles, Words settings) {
        return explain(what, axes, {std::move(profiles), std::move(settings)});
      },
      py::arg("what"), py::arg("axes"), py::arg("profiles"), py::arg("settings"));
}

void bind_fit(py::module_& module) {
  module.def(
      "fit",
      [](const std::string& config, std::string preset, const std::string& model,
         const std::string& device, const std::string& multihost, const std::string& data,
         const std::string& tokenizer, Words keys, const std::string& engine,
         const std::string& schedule, int chunks, int tiers, bool search, Words profiles,
         Words settings) {
        return fit({.files = {.training = config,
                              .preset = std::move(preset),
                              .model = model,
                              .device = device,
                              .multihost = multihost,
                              .data = data,
                              .tokenizer = tokenizer,
                              .keys = std::move(keys)},
                    .mesh = {.chunks = chunks, .tiers = tiers},
                    .profiles = {std::move(profiles), std::move(settings)},
                    .search = search},
                   engine, schedule);
      },
      py::arg("config"), py::arg("preset"), py::arg("model"), py::arg("device"),
      py::arg("multihost"), py::arg("data"), py::arg("tokenizer"), py::arg("keys"),
      py::arg("engine"), py::arg("schedule"), py::arg("chunks"), py::arg("tiers"),
      py::arg("search"), py::arg("profiles"), py::arg("settings"));
}

void bind_logs(py::module_& module) {
  module.def(
      "analyze",
      [](const Words& files, bool compare, std::optional<bool> advice, std::string from,
         std::string to, bool all, bool join, std::string zones, Words profiles, Words settings) {
        using experiments::Advice;
        return analyze(files, join,
                       {.profiles = {std::move(profiles), std::move(settings)},
                        .compare = compare,
                        .advice = !advice   ? Advice::of_small_files
                                  : *advice ? Advice::of_all_files
                                            : Advice::none,
                        .range = {.from = std::move(from), .to = std::move(to), .with_warmup = all},
                        .zones = std::move(zones)});
      },
      py::arg("files"), py::arg("compare_emulated"), py::arg("advice"), py::arg("start"),
      py::arg("end"), py::arg("all"), py::arg("join"), py::arg("zones"), py::arg("profiles"),
      py::arg("settings"));
}

}  // namespace

void bind_experiments(py::module_& module) {
  module.def("experiments", &experiments_there_are);
  bind_runs(module);
  bind_fit(module);
  bind_logs(module);
}

}  // namespace howard::python
