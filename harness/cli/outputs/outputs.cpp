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
#include "reports/formats/time_record.h"
#include "reports/pictures/plot.h"
#include "reports/sweeps/sweep_summary.h"
#include "reports/tables/markdown.h"
#include "reports/tables/table.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;
using harness::ExperimentResult;

std::vector<reports::Table> tables_of(const Finished& finished, bool all_rows) {
  if (!finished.tables.empty()) return finished.tables;
  std::vector<reports::Table> tables =
      reports::make_tables(finished.result, finished.presentation, all_rows);
  std::ranges::move(reports::sweep_tables(finished.result, finished.presentation, all_rows),
                    std::back_inserter(tables));
  return tables;
}

std::string markdown(std::span<const Finished> finished, bool all_rows) {
  std::string text;
  for (const Finished& one : finished) {
    text += (text.empty() ? "# " : "\n# ") + one.result.experiment + "\n";
    for (const reports::Table& table : tables_of(one, all_rows)) {
      text += "\n" + reports::markdown_table(table);
    }
  }
  return text;
}

/// Writes the results side by side. A single result, however large, is written without a copy.
template <class Write>
void write_results(std::span<const Finished> finished, Write write) {
  if (finished.size() == 1) return write(std::span(&finished.front().result, 1));
  std::vector<ExperimentResult> results;
  for (const Finished& one : finished) results.push_back(one.result);
  write(std::span<const ExperimentResult>(results));
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

/// Returns one line for each name, not one for each file: "results/matmul_sweep.{json,csv,md}".
std::vector<std::string> names_of_files(const std::vector<fs::path>& files) {
  std::vector<fs::path> stems;
  for (const fs::path& file : files) {
    const fs::path stem = fs::path(file).replace_extension();
    if (std::ranges::find(stems, stem) == stems.end()) stems.push_back(stem);
  }
  std::vector<std::string> lines;
  for (const fs::path& stem : stems) {
    std::vector<std::string> extensions;
    for (const fs::path& file : files) {
      if (fs::path(file).replace_extension() != stem) continue;
      extensions.push_back(file.extension().string().substr(file.has_extension() ? 1 : 0));
    }
    lines.push_back(extensions.size() == 1
                        ? stem.string() + (extensions[0].empty() ? "" : "." + extensions[0])
                        : fmt::format("{}.{{{}}}", stem.string(), join(extensions, ",")));
  }
  return lines;
}

}  // namespace

Outputs::Outputs(const OutputPlaces& places) : places_(places) {}

fs::path Outputs::file_for(const std::string& given, const std::string& experiment,
                           const char* extension) const {
  return given.empty() ? places_.results / (experiment + extension) : fs::path(given);
}

fs::path Outputs::plot_folder() const {
  return places_.pictures.empty() ? places_.results : fs::path(places_.pictures);
}

bool Outputs::uses_standard_output() const {
  return places_.json == "-" || places_.csv == "-" || places_.markdown == "-" ||
         places_.times == "-" || places_.trace == "-";
}

void Outputs::require_writable() const {
  for (const std::string& given : {places_.json, places_.csv, places_.markdown}) {
    if (given.empty()) require_writable_folder(places_.results);
  }
  for (const std::string& given :
       {places_.json, places_.csv, places_.markdown, places_.times, places_.trace}) {
    std::error_code ignored;
    if (fs::is_directory(given, ignored)) {
      throw Error({.attempted = "write " + given,
                   .value = "it is a folder",
                   .accepted = "a file",
                   .hint = (fs::path(given) / "NAME").string()});
    }
    const bool is_file = !given.empty() && given != "-" &&
                         (!fs::exists(given, ignored) || fs::is_regular_file(given, ignored));
    if (is_file) {
      const fs::path folder = fs::path(given).parent_path();
      require_writable_folder(folder.empty() ? "." : folder);
    }
  }
  require_writable_folder(plot_folder());
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
  const fs::path file = file_for(places_.json, running.experiment, ".json");
  try {
    if (file != "-") {
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
  if (!places_.json.empty()) finished_.push_back(finished.result);
  if (!finished.emulated_is_shown) return show(finished);
  Finished rest = finished;
  std::erase_if(rest.result.points, [](const harness::PointResult& point) {
    return point.backend == harness::Backend::emulated;
  });
  show(rest);
}

void Outputs::show(const Finished& finished) const { print(tables_of(finished, places_.all_rows)); }

void Outputs::print(const std::vector<reports::Table>& tables) const {
  const int descriptor = uses_standard_output() ? STDERR_FILENO : STDOUT_FILENO;
  std::FILE* const stream = uses_standard_output() ? stderr : stdout;
  const reports::TerminalStyle style = terminal_style(descriptor, places_.color);
  for (const reports::Table& table : tables) {
    fmt::print(stream, "{}\n", reports::terminal_table(table, style));
  }
  std::fflush(stream);
}

bool Outputs::write(const std::vector<Finished>& finished) {
  const auto write_text = [&](const fs::path& file, const TextSource& source) {
    attempt([&] {
      write_file(file, source);
      if (file != "-") written_.push_back(file);
    });
  };
  // If no file name is given, each experiment has its own files; otherwise all share the named one.
  const auto write_kind = [&](const std::string& given, const char* extension, auto write) {
    const auto source = [&](std::span<const Finished> some) {
      return [&write, some](const TextSink& sink) { write(some, sink); };
    };
    if (!given.empty()) return write_text(given, source(finished));
    for (const Finished& one : finished) {
      write_text(file_for(given, one.result.experiment, extension), source(std::span(&one, 1)));
    }
  };
  using Some = std::span<const Finished>;
  using Results = std::span<const ExperimentResult>;
  write_kind(places_.json, ".json", [](Some some, const TextSink& sink) {
    write_results(some, [&](Results results) { reports::write_result_json(results, sink); });
  });
  write_kind(places_.csv, ".csv", [](Some some, const TextSink& sink) {
    write_results(some, [&](Results results) { reports::write_csv(results, sink); });
  });
  write_kind(places_.markdown, ".md",
             [&](Some some, const TextSink& sink) { sink(markdown(some, places_.all_rows)); });
  if (!places_.times.empty()) {
    write_text(places_.times, [&](const TextSink& sink) {
      write_results(finished, [&](Results results) {
        sink(reports::times_text(reports::time_record(results)));
      });
    });
  }
  for (const Finished& one : finished) {
    names_.push_back(one.result.experiment);
    for (const harness::Document& document : one.documents) {
      write_text(places_.results / document.file_name,
                 [&](const TextSink& sink) { sink(document.text); });
    }
    add_picture([&](const reports::Canvas& canvas) {
      return reports::write_plots(one.result, one.presentation, canvas);
    });
  }
  return all_written_;
}

bool Outputs::add_file(const fs::path& file, const std::string& text) {
  attempt([&] {
    write_file(file, text);
    written_.push_back(file);
  });
  return all_written_;
}

bool Outputs::add_picture(const std::function<reports::PlotFiles(const reports::Canvas&)>& draw) {
  attempt([&] {
    reports::Canvas canvas = places_.canvas;
    canvas.folder = plot_folder();
    const reports::PlotFiles plots = draw(canvas);
    written_.insert(written_.end(), plots.written.begin(), plots.written.end());
    if (!plots.not_rendered.empty()) {
      complain("no pictures: {}", plots.not_rendered);
    }
    for (const std::string& failure : plots.failures) fail(failure);
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
  for (const std::string& line : names_of_files(written_)) fmt::print(stderr, "wrote {}\n", line);
  for (const std::string& line : names_of_files(left_over())) {
    fmt::print(stderr, "not of this run, but of an earlier one: {}\n", line);
  }
}

}  // namespace howard::cli
