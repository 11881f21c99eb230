// SPDX-License-Identifier: Apache-2.0
#include "experiments/laboratory/laboratory.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/text.h"
#include "experiments/experiment.h"
#include "experiments/laboratory/chip_context.h"
#include "experiments/laboratory/devbox.h"
#include "experiments/logs/chip_of_log.h"
#include "experiments/logs/log_content.h"
#include "experiments/logs/log_workload.h"
#include "experiments/questions/tuning_report.h"
#include "experiments/training_plan/fit.h"
#include "harness/environment.h"
#include "reports/published/reference.h"

namespace howard::experiments {
namespace {

bool runs_on_host(const PlannedExperiment& planned) {
  return std::ranges::find(planned.points, harness::Backend::host,
                           &harness::PointResult::backend) != planned.points.end();
}

/// Returns whether a question names a log: a file that is neither a recorded program nor a
/// training.
bool is_log(const std::string& what) {
  return what.find_first_of("./") != std::string::npos && !what.ends_with(".json") &&
         !names_training(what);
}

}  // namespace

Laboratory::Laboratory(LaboratorySettings settings)
    : settings_(std::move(settings)),
      space_(parse_design_space(settings_.profiles)),
      box_(std::make_shared<const DevBox>(chip::load_constants(space_.fixed), settings_.host,
                                          settings_.seed, settings_.chip_memory, settings_.stop)),
      experiments_(vary(all_experiments(box_), box_, space_)) {}

const harness::Experiment& Laboratory::find(const std::string& name) const {
  std::vector<std::string> known;
  for (const auto& experiment : experiments_) {
    if (experiment->name() == name) return *experiment;
    known.emplace_back(experiment->name());
  }
  throw Error({.attempted = "run experiment '" + name + "'",
               .value = "there is none of that name",
               .accepted = join(known, ", "),
               .hint = closest(name, known).value_or("")});
}

PlannedExperiment Laboratory::plan(const harness::Experiment& experiment,
                                   const harness::PlanOptions& options) const {
  PlannedExperiment planned{&experiment, harness::plan_points(experiment, options)};
  if (!space_.axes.empty() && experiment.is_tool()) {
    throw Error({.attempted = fmt::format("run {}", experiment.name()),
                 .value = space_.several(),
                 .accepted = "one value and one chip",
                 .hint = "a run for each"});
  }
  return planned;
}

std::vector<reports::Table> Laboratory::page_tables(std::string_view experiment) const {
  const bool known =
      std::ranges::any_of(experiments_, [&](const auto& one) { return one->name() == experiment; });
  if (!known) return {};
  const Experiment value = maker_of(experiment)(box_);
  return value.page_tables ? value.page_tables() : std::vector<reports::Table>();
}

harness::RunContext Laboratory::context_of(std::span<const PlannedExperiment> planned) const {
  const bool on_host = std::ranges::any_of(planned, runs_on_host);
  harness::RunContext context =
      harness::describe_environment(on_host ? harness::Backend::host : harness::Backend::emulated);
  if (on_host) context.threads = box_->host()->threads();
  describe_chip(space_.fixed, context);
  // If a constant has several values, the points belong to as many chips.
  if (!space_.axes.empty()) context.published_chip = false;
  context.seed = settings_.seed;
  return context;
}

void Laboratory::require_one_chip(std::string_view attempted) const {
  if (space_.axes.empty()) return;
  throw BadRequest({.attempted = std::string(attempted),
                    .value = space_.several(),
                    .accepted = "one quantity and one chip"});
}

harness::RunContext Laboratory::emulated_context() const {
  harness::RunContext context = context_of({});
  context.seed = 0;
  return context;
}

harness::ExperimentResult Laboratory::run(PlannedExperiment planned,
                                          const harness::RunContext& context,
                                          const harness::WallOptions& wall,
                                          harness::RunObserver& observer,
                                          const harness::Workers& workers) const {
  const std::size_t count = planned.points.size();
  harness::ExperimentResult result{
      .experiment = std::string(planned.experiment->name()),
      .context = context,
      .points = harness::run_points(*planned.experiment, std::move(planned.points), wall, observer,
                                    workers)};
  result.interrupted = result.points.size() < count;
  reports::attach_references(result);
  return result;
}

LogWorkload Laboratory::read_log(const ExplainQuestion& question,
                                 std::unique_ptr<Laboratory>& own) const {
  const std::string& file = question.what;
  const LogContent content = read_log_content(
      file, nullptr, {.tensors = profiler::Tensors::read, .range = question.range});
  const auto* const log = std::get_if<profiler::Log>(&content);
  if (log == nullptr) {
    throw Error({.attempted = "explain " + file,
                 .value = "it is a result file",
                 .accepted = "an ops_perf_results CSV",
                 .hint = "run_experiment analyze " + shell_word(file)});
  }
  const chip::ProfileChoice choice = choice_for(*log, settings_.profiles);
  if (choice.profiles != settings_.profiles.profiles) {
    LaboratorySettings settings = settings_;
    settings.profiles = choice;
    own = std::make_unique<Laboratory>(std::move(settings));
  }
  return log_workload(*log, file, (own ? *own : *this).box_->profiles());
}

reports::Explanation Laboratory::explain_log(const ExplainQuestion& question) const {
  std::unique_ptr<Laboratory> own;
  const LogWorkload workload = read_log(question, own);
  const std::shared_ptr<const DevBox>& box = own ? own->box_ : box_;
  ExplainQuestion asked = question;
  if (own) asked.profiles = own->settings_.profiles;
  asked.what = shell_word(question.what);
  for (const auto& [option, value] :
       {std::pair{"--from", question.range.from}, {"--to", question.range.to}}) {
    if (!value.empty()) asked.what += fmt::format(" {} {}", option, shell_word(value));
  }
  if (question.range.with_warmup) asked.what += " --all";
  const auto experiment = log_experiment(box, workload);
  return experiments::explain_log(*box, asked, *experiment, workload);
}

void Laboratory::require_range(const ExplainQuestion& question) const {
  if (question.range.is_whole() && !question.range.with_warmup) return;
  throw BadRequest({.attempted = "look at a part of it",
                    .value = fmt::format("'{}' is no log", question.what),
                    .accepted = "--from, --to and --all for a log"});
}

reports::Explanation Laboratory::explain(const ExplainQuestion& question) const {
  require_one_chip("explain a point");
  if (is_log(question.what)) return explain_log(question);
  require_range(question);
  return answer(*box_, question, plan_explanation(question, experiments_));
}

WorkTuning Laboratory::tune_log(const ExplainQuestion& question, int threads,
                                const Tried& tried) const {
  std::unique_ptr<Laboratory> own;
  const LogWorkload workload = read_log(question, own);
  const auto make = [&](const Box& box) { return log_experiment(box, workload); };
  const Box box = own ? own->box_ : box_;
  const auto experiment = make(box);
  const harness::Parameters point = first_that_runs(plan_explanation(question, *experiment));
  WorkTuning tuning = experiments::tune(box, {make, point}, threads, tried);
  tuning.notes = workload.notes;
  tuning.notes.push_back(coverage_text(workload));
  return tuning;
}

WorkTuning Laboratory::tune(const ExplainQuestion& question, int threads,
                            const Tried& tried) const {
  require_one_chip("tune a work");
  if (is_log(question.what)) return tune_log(question, thread_count(threads), tried);
  require_range(question);
  const PlannedExperiment planned = plan_explanation(question, experiments_);
  const ExperimentMaker maker = maker_of(planned.experiment->name());
  return experiments::tune(
      box_, {[=](const Box& box) { return runnable(maker(box), box); }, first_that_runs(planned)},
      thread_count(threads), tried);
}

harness::ExperimentResult Laboratory::result_of(const reports::Explanation& explanation) const {
  return reports::explanation_result(explanation, emulated_context());
}

std::vector<Tuning> Laboratory::tune(const std::vector<std::string>& axes, std::size_t most,
                                     int threads) const {
  require_one_chip("tune a product");
  std::vector<harness::Parameters> products;
  try {
    products = tuned_products(axes);
  } catch (const Error& failure) {
    throw BadRequest(failure.text());
  }
  std::vector<Tuning> tunings;
  for (const harness::Parameters& product : products) {
    tunings.push_back(experiments::tune(*box_, product, most, thread_count(threads)));
  }
  return tunings;
}

harness::ExperimentResult Laboratory::result_of(std::span<const Tuning> tunings) const {
  return tuning_result(tunings, emulated_context());
}

int thread_count(int wanted) {
  return wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace howard::experiments
