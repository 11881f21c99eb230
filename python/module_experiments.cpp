// SPDX-License-Identifier: Apache-2.0
#include "python/module_experiments.h"

#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "experiments/all.h"
#include "experiments/workloads/chip_context.h"
#include "experiments/workloads/logs/log_content.h"
#include "experiments/workloads/questions/design_space.h"
#include "experiments/workloads/questions/explain_question.h"
#include "harness/environment.h"
#include "harness/runner.h"
#include "python/interruption.h"
#include "reports/findings/explanation.h"
#include "reports/findings/log_advice_report.h"
#include "reports/formats/result_json.h"
#include "reports/published/reference.h"

namespace py = pybind11;

namespace howard::python {
namespace {

using experiments::DevBox;
using experiments::ExperimentList;
using harness::Backend;
using Words = std::vector<std::string>;

/// What to run, and how. The words are those of the command line.
struct RunRequest {
  std::string name;
  Words axes;
  std::string backend;
  chip::ProfileChoice profiles;
  std::string filter;
  bool quick = false;
  std::uint64_t seed = 0;
  harness::WallOptions wall;
  int threads = 0;
};

/// A box together with its experiments.
struct Laboratory {
  std::shared_ptr<const DevBox> box;
  ExperimentList list;
  chip::ProfileChoice profiles;  ///< Without the constants that have several values.
  bool one_design = true;        ///< True if no constant has several values.

  Laboratory(const chip::ProfileChoice& choice, const host::HostOptions& host, std::uint64_t seed,
             std::function<bool()> stop) {
    const experiments::DesignSpace space = experiments::parse_design_space(choice);
    profiles = space.fixed;
    box = std::make_shared<const DevBox>(chip::load_profiles(profiles), host, seed, nullptr,
                                         std::move(stop));
    one_design = space.axes.empty();
    list = experiments::vary(experiments::all_experiments(box, space.fixed), box, space);
  }

  harness::RunContext context() const {
    harness::RunContext context = harness::describe_environment();
    experiments::describe_chip(profiles, context);
    context.published_chip = context.published_chip && one_design;
    context.seed = box->seed();
    return context;
  }
};

const harness::Experiment& find(const ExperimentList& list, const std::string& name) {
  Words known;
  for (const auto& experiment : list) {
    if (experiment->name() == name) return *experiment;
    known.emplace_back(experiment->name());
  }
  const auto suggestion = closest(name, known);
  throw Error({.attempted = "run experiment '" + name + "'",
               .value = "there is none of that name",
               .accepted = join(known, ", "),
               .hint = suggestion.value_or("")});
}

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
                   .accepted = "emulated, host, emulated,host",
                   .hint = ""});
    }
    backends.push_back(one == "host" ? Backend::host : Backend::emulated);
  }
  return backends;
}

void require_within(std::string_view what, double value, double low, double high) {
  if (value >= low && value <= high) return;
  throw Error({.attempted = fmt::format("read {}", what),
               .value = fmt::format("{}", value),
               .accepted = fmt::format("{} to {}", low, high),
               .hint = ""});
}

void require_sensible(const RunRequest& request) {
  require_within("repetitions", request.wall.repetitions, 1, 1000);
  require_within("min_time", request.wall.min_time, 1e-6, 3600);
  require_within("threads", request.threads, 0, 4096);
}

/// Stops a run when Python was interrupted.
class Interruptible final : public harness::RunObserver {
 public:
  explicit Interruptible(LongWork& work) : work_(work) {}
  bool stop() override { return work_.interrupted(); }

 private:
  LongWork& work_;
};

std::string run(const RunRequest& request) {
  require_sensible(request);
  return LongWork::run([&](LongWork& work) {
    const auto stop = [&] { return work.interrupted(); };
    const Laboratory laboratory(request.profiles, {.threads = request.threads}, request.seed, stop);
    const harness::Experiment& experiment = find(laboratory.list, request.name);
    harness::PlanOptions plan{.backends = backends_of(request.backend, experiment),
                              .overrides = harness::parse_axis_overrides(request.axes),
                              .filter = request.filter,
                              .quick = request.quick};
    std::vector<harness::PointResult> points = harness::plan_points(experiment, plan);
    harness::RunContext context = laboratory.context();
    if (std::ranges::find(points, Backend::host, &harness::PointResult::backend) != points.end()) {
      context.threads = laboratory.box->host()->threads();
    }
    Interruptible observer(work);
    const int threads = request.threads > 0 ? request.threads
                                            : static_cast<int>(std::thread::hardware_concurrency());
    harness::ExperimentResult result{.experiment = request.name, .context = context, .points = {}};
    result.points = harness::run_points(experiment, std::move(points), request.wall, observer,
                                        {.threads = std::max(1, threads), .others = {}});
    reports::attach_references(result);
    return reports::result_json({&result, 1});
  });
}

std::string explain(const std::string& what, const Words& axes, const chip::ProfileChoice& choice) {
  return LongWork::run([&](LongWork& work) {
    const Laboratory laboratory(choice, {}, 1, [&] { return work.interrupted(); });
    const experiments::ExplainQuestion question{.what = what, .axes = axes, .profiles = choice};
    const auto planned = experiments::plan_explanation(question, laboratory.list);
    harness::RunContext context = laboratory.context();
    context.seed = 0;  // nothing is drawn
    const harness::ExperimentResult result = reports::explanation_result(
        experiments::answer(*laboratory.box, question, planned), context);
    return reports::result_json({&result, 1});
  });
}

/// Returns the results of one file as an array.
std::string analyze(const std::string& file, bool compare, const chip::ProfileChoice& choice) {
  return LongWork::run([&](LongWork&) {
    harness::RunContext context = harness::describe_environment();
    std::optional<chip::Profiles> emulated;
    if (compare) {
      emulated = chip::load_profiles(choice);
      experiments::describe_chip(choice, context);
    }
    const auto tensors = compare ? profiler::Tensors::skipped : profiler::Tensors::read;
    const auto content =
        experiments::read_log_content(file, emulated ? &*emulated : nullptr, {.tensors = tensors});
    std::vector<harness::ExperimentResult> results =
        experiments::results_of(content, file, context);
    if (const auto* const log = std::get_if<profiler::Log>(&content)) {
      const chip::Profiles chip = chip::load_profiles(choice);
      profiler::CallEmulator emulator(chip);
      std::ranges::move(
          reports::advice_results(reports::advice_of(*log, &emulator),
                                  std::filesystem::path(file).filename().string(), context),
          std::back_inserter(results));
    }
    return reports::result_json(results);
  });
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
  const Laboratory laboratory({}, {}, 1, {});
  py::list result;
  for (const auto& experiment : laboratory.list) {
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

}  // namespace

void bind_experiments(py::module_& module) {
  module.def("experiments", &experiments_there_are);
  module.def(
      "run",
      [](std::string name, Words axes, std::string backend, Words profiles, Words settings,
         std::string filter, bool quick, std::uint64_t seed, int repetitions, double min_time,
         int threads) {
        return run({.name = std::move(name),
                    .axes = std::move(axes),
                    .backend = std::move(backend),
                    .profiles = {std::move(profiles), std::move(settings)},
                    .filter = std::move(filter),
                    .quick = quick,
                    .seed = seed,
                    .wall = {.repetitions = repetitions, .min_time = min_time},
                    .threads = threads});
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
  module.def(
      "analyze",
      [](const std::string& file, bool compare, Words profiles, Words settings) {
        return analyze(file, compare, {std::move(profiles), std::move(settings)});
      },
      py::arg("file"), py::arg("compare_emulated"), py::arg("profiles"), py::arg("settings"));
}

}  // namespace howard::python
