// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/outputs/outputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "harness/cli/command/program.h"
#include "harness/cli/terminal/terminal.h"
#include "reports/formats/csv.h"
#include "reports/formats/result_json.h"
#include "reports/pictures/plot.h"
#include "reports/sweeps/sweep_summary.h"
#include "reports/tables/markdown.h"
#include "reports/tables/table.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;
using harness::ExperimentResult;

std::vector<reports::Table> tables_in(const Finished& finished, bool all_rows) {
  if (!finished.tables.empty()) return finished.tables;
  std::vector<reports::Table> tables =
      reports::make_tables(finished.result, finished.presentation, all_rows);
  std::ranges::move(reports::sweep_tables(finished.result, finished.presentation, all_rows),
                    std::back_inserter(tables));
  return tables;
}

std::string markdown(const Finished& finished, bool all_rows) {
  std::string text = "# " + finished.result.experiment + "\n";
  for (const reports::Table& table : tables_in(finished, all_rows)) {
    text += "\n" + reports::markdown_table(table);
  }
  return text;
}

reports::PlotFiles plots_of(const Finished& finished, const reports::Canvas& canvas) {
  if (finished.draw) return finished.draw(canvas);
  return reports::write_plots(finished.result, finished.presentation, canvas);
}

/// Returns whether a run of an experiment writes files of this name: "two_queues.json",
/// "two_queues_2.png".
bool is_file_of(std::string_view experiment, const fs::path& file) {
  constexpr std::array<std::string_view, 9> kExtensions{".json", ".csv", ".md",  ".gp",  ".dat",
                                                        ".png",  ".svg", ".pdf", ".html"};
  if (std::ranges::find(kExtensions, file.extension().string()) == kExtensions.end()) return false;
  const std::string stem = file.stem().string();
  if (!stem.starts_with(experiment)) return false;
  const std::string_view rest = std::string_view(stem).substr(experiment.size());
  return rest.empty() || (rest.front() == '_' && parse_natural(rest.substr(1)));
}

}  // namespace

Outputs::Outputs(const OutputPlaces& places) : places_(places) {}

fs::path Outputs::plot_folder() const {
  return places_.pictures.empty() ? places_.results : fs::path(places_.pictures);
}

bool Outputs::uses_standard_output() const {
  return places_.files.use_standard_output() || places_.trace == "-";
}

void Outputs::require_writable() const {
  if (has_folder()) require_writable_folder(places_.results);
  places_.files.require_writable();
  if (!places_.trace.empty()) require_writable_file(places_.trace);
  if (!places_.pictures.empty()) require_writable_folder(places_.pictures);
  if (!places_.device_logs.empty()) require_writable_folder(places_.device_logs);
  if (!places_.memory.empty()) require_writable_folder(places_.memory);
}

template <class Step>
void Outputs::attempt(Step step) {
  try {
    step();
  } catch (const Error& failure) {
    fail(failure.what());
  }
}

void Outputs::fail(const std::string& failure) {
  complain(failure);
  all_written_ = false;
}

void Outputs::checkpoint(const ExperimentResult& running,
                         std::vector<const harness::PointResult*> points) {
  const Clock::time_point start = Clock::now();
  fs::path file = places_.files.json_file();
  if (file.empty() && has_folder()) {
    file = places_.results / (running.experiment + ".json");
  }
  try {
    if (!file.empty()) {
      write_file(file, [&](const TextSink& sink) {
        reports::write_result_json(finished_, running, std::move(points), sink);
      });
    }
  } catch (const Error& failure) {
    // The checkpoint is written again later, and a failure at the end counts.
    if (!std::exchange(has_warned_, true)) {
      complain("warning: nothing is saved while this runs: {}", failure.what());
    }
  }
  const Clock::duration took = Clock::now() - start;
  next_checkpoint_ = Clock::now() + std::max<Clock::duration>(kCheckpointInterval, 9 * took);
}

void Outputs::finish(const Finished& finished) {
  if (!places_.files.json_file().empty()) finished_.push_back(finished.result);
  if (!finished.emulated_is_shown) return show(finished);
  Finished rest = finished;
  std::erase_if(rest.result.points, [](const harness::PointResult& point) {
    return point.backend == harness::Backend::emulated;
  });
  show(rest);
}

void Outputs::show(const Finished& finished) const { print(tables_in(finished, places_.all_rows)); }

void Outputs::print(const std::vector<reports::Table>& tables) const {
  const int descriptor = uses_standard_output() ? STDERR_FILENO : STDOUT_FILENO;
  std::FILE* const stream = uses_standard_output() ? stderr : stdout;
  const reports::TerminalStyle style = terminal_style(descriptor, places_.color);
  for (const reports::Table& table : tables) {
    fmt::print(stream, "{}\n", reports::terminal_table(table, style));
  }
  std::fflush(stream);
}

void Outputs::write_text(const fs::path& file, const TextSource& source) {
  attempt([&] {
    write_file(file, source);
    written_.push_back(file);
  });
}

bool Outputs::fills_folder(const std::vector<Finished>& finished) const {
  const bool asks_for_pictures =
      places_.canvas.size || places_.canvas.formats != reports::Canvas().formats;
  if (places_.keeps_all || asks_for_pictures) return true;
  std::size_t points = 0;
  bool has_documents = false;
  for (const Finished& one : finished) {
    points += one.result.points.size();
    has_documents = has_documents || !one.documents.empty();
  }
  return points > 1 || has_documents;
}

void Outputs::write_folder(const Finished& finished, bool all) {
  const fs::path stem = places_.results / finished.result.experiment;
  const std::span<const ExperimentResult> result(&finished.result, 1);
  write_text(stem.string() + ".json",
             [&](const TextSink& sink) { reports::write_result_json(result, sink); });
  if (!all) return;
  write_text(stem.string() + ".csv",
             [&](const TextSink& sink) { reports::write_csv(result, sink); });
  write_text(stem.string() + ".md",
             [&](const TextSink& sink) { sink(markdown(finished, places_.all_rows)); });
  for (const harness::Document& document : finished.documents) {
    write_text(places_.results / document.file_name,
               [&](const TextSink& sink) { sink(document.text); });
  }
}

void Outputs::draw(const Finished& finished, const reports::Canvas& canvas) {
  attempt([&] {
    const reports::PlotFiles plots = plots_of(finished, canvas);
    written_.insert(written_.end(), plots.written.begin(), plots.written.end());
    if (!plots.not_rendered.empty()) complain("no pictures: {}", plots.not_rendered);
    for (const std::string& failure : plots.failures) fail(failure);
  });
}

bool Outputs::write(const std::vector<Finished>& finished) {
  const bool all = has_folder() && fills_folder(finished);
  for (const Finished& one : finished) {
    names_.push_back(one.result.experiment);
    if (has_folder()) write_folder(one, all);
    if (!all && places_.pictures.empty()) continue;
    reports::Canvas canvas = places_.canvas;
    canvas.folder = plot_folder();
    draw(one, canvas);
  }
  if (places_.files.empty()) return all_written_;
  Shown shown;
  std::vector<ExperimentResult> results;
  if (finished.size() == 1) {  // however large, it is written without a copy
    shown.results = std::span(&finished.front().result, 1);
  } else {
    for (const Finished& one : finished) results.push_back(one.result);
    shown.results = results;
  }
  for (const Finished& one : finished) {
    std::ranges::move(tables_in(one, places_.all_rows), std::back_inserter(shown.tables));
  }
  shown.python = finished.front().python;
  shown.mlir = finished.front().mlir;
  shown.draw = [&](const reports::Canvas& canvas) {
    reports::PlotFiles all_files;
    for (const Finished& one : finished) all_files.add(plots_of(one, canvas));
    return all_files;
  };
  all_written_ = places_.files.write(shown, places_.canvas,
                                     terminal_style(STDOUT_FILENO, places_.color), written_) &&
                 all_written_;
  return all_written_;
}

bool Outputs::add_file(const fs::path& file, const std::string& text) {
  attempt([&] {
    write_file(file, text);
    written_.push_back(file);
  });
  return all_written_;
}

std::vector<fs::path> Outputs::left_over() const {
  std::error_code ignored;
  std::set<fs::path> own;
  for (const fs::path& file : written_) own.insert(fs::weakly_canonical(file, ignored));
  std::set<fs::path> files;
  for (const fs::path& folder : {places_.results, plot_folder()}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
      const fs::path file = folder / entry.path().filename();
      const bool named = std::ranges::any_of(
          names_, [&](const std::string& name) { return is_file_of(name, file); });
      // A file of this run that could not be written to its end is no older one.
      if (entry.last_write_time(ignored) >= started_) continue;
      if (named && entry.is_regular_file(ignored) &&
          own.insert(fs::weakly_canonical(file, ignored)).second) {
        files.insert(file);
      }
    }
  }
  return {files.begin(), files.end()};
}

void Outputs::print_written() const {
  say_written(written_);
  for (const std::string& line : names_of_files(left_over())) {
    fmt::print(stderr, "not of this run, but of an earlier one: {}\n", line);
  }
}

}  // namespace howard::cli
