// SPDX-License-Identifier: Apache-2.0
#include "experiments/logs/log_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "experiments/laboratory/chip_context.h"
#include "experiments/logs/chip_of_log.h"
#include "harness/environment.h"
#include "profiler/formats/csv/byte_source.h"
#include "profiler/formats/device_log/device_log_reader.h"
#include "profiler/formats/joined_logs.h"

namespace howard::experiments {
namespace {

constexpr std::uintmax_t kMostAdvised = 256'000'000;

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename(); }

}  // namespace

const profiler::Log& Analyzed::required_log() const {
  if (log() != nullptr) return *log();
  throw Error({.attempted = "take " + file + " for a log",
               .value = "it is a result file",
               .accepted = "logs",
               .hint = "run_experiment compare A.json B.json compares results"});
}

std::string Analyzed::title_of(std::size_t run) const {
  std::string title = file_name(file);
  if (log() == nullptr) return title;
  const auto& runs = log()->runs;
  if (runs.size() > 1) title += fmt::format(", run {} of {}", run + 1, runs.size());
  if (!runs[run].title.empty()) title += ", " + runs[run].title;
  return title;
}

LogAnalysis::LogAnalysis(LogQuestion question)
    : question_(std::move(question)), context_(harness::describe_environment()) {
  if (question_.compare) describe_chip(question_.profiles, context_);
}

Analyzed LogAnalysis::read(const std::string& file) {
  Analyzed analyzed = read_content(file);
  if (!question_.zones.empty()) add_zones(analyzed);
  advise(analyzed);
  return analyzed;
}

Analyzed LogAnalysis::read_joined(const std::vector<std::string>& files) {
  std::deque<Analyzed> read_files;
  std::vector<const profiler::Log*> logs;
  std::vector<std::string> names;
  for (const std::string& file : files) {
    logs.push_back(&read_files.emplace_back(read_content(file)).required_log());
    names.push_back(file_name(file));
  }
  Analyzed joined{.file = fmt::format("{} files", files.size()),
                  .content = profiler::join_logs(logs, names),
                  .programs = question_.programs};
  advise(joined);
  return joined;
}

std::vector<harness::ExperimentResult> LogAnalysis::results_of(const Analyzed& analyzed) const {
  const std::string name = file_name(analyzed.file);
  auto results = experiments::results_of(analyzed.content, analyzed.file, context_);
  std::ranges::move(reports::advice_results(analyzed.advice, name, context_),
                    std::back_inserter(results));
  if (analyzed.programs && analyzed.log() != nullptr) {
    results.push_back(reports::program_result(*analyzed.log(), analyzed.advice, *analyzed.programs,
                                              name, context_));
  }
  return results;
}

bool LogAnalysis::wants_calls(const std::string& file) const {
  if (question_.compare) return false;
  if (question_.advice == Advice::of_all_files || question_.calls) return true;
  if (question_.advice == Advice::none) return false;
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(file, unknown);
  return unknown || size <= kMostAdvised;
}

Analyzed LogAnalysis::read_content(const std::string& file) {
  const bool calls = wants_calls(file);
  Analyzed analyzed{.file = file,
                    .content = content_of(file, {.tensors = calls ? profiler::Tensors::read
                                                                  : profiler::Tensors::skipped,
                                                 .range = question_.range,
                                                 .host_ids = !question_.zones.empty()}),
                    .programs = question_.programs};
  if (calls || question_.compare || question_.advice == Advice::none) return analyzed;
  if (auto* const log = std::get_if<profiler::Log>(&analyzed.content)) {
    log->notes.emplace_back("no advice for a file of this size, unless --advice asks for it");
  }
  return analyzed;
}

LogContent LogAnalysis::content_of(const std::string& file, const profiler::ReadOptions& read) {
  if (!question_.compare) return read_log_content(file, nullptr, read);
  chip::ProfileChoice choice = question_.profiles;
  LogContent content = compare_on_its_chip(file, choice, read);
  describe_chip(choice, context_);
  return content;
}

void LogAnalysis::add_zones(Analyzed& analyzed) const {
  static_cast<void>(analyzed.required_log());
  profiler::FileSource source(question_.zones);
  profiler::add_zones(std::get<profiler::Log>(analyzed.content),
                      profiler::read_device_log(source, question_.zones), question_.zones);
}

void LogAnalysis::advise(Analyzed& analyzed) {
  const auto* const log = analyzed.log();
  if (log == nullptr || question_.advice == Advice::none || log->calls.size() == 0) return;
  std::vector<chip::Profiles> chips;
  std::vector<std::string> names;
  for (const chip::ProfileChoice& choice : choices_for(*log, question_.profiles)) {
    names.push_back(chips.emplace_back(chip::load_profiles(choice)).chip.name);
  }
  if (emulated_ != names) {
    emulator_.emplace(chips.front());
    for (std::size_t i = 1; i < chips.size(); ++i) emulator_->add(chips[i]);
    emulated_ = std::move(names);
  }
  int used = 0;
  for (const profiler::LoggedRun& run : log->runs) {
    for (const profiler::LoggedDevice& device : run.devices)
      used = std::max(used, device.used_cores);
  }
  emulator_->set_used_cores(used);
  analyzed.advice = reports::advice_of(*log, &*emulator_);
}

}  // namespace howard::experiments
