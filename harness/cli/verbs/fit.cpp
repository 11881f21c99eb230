// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/file.h"
#include "experiments/training_plan/fit.h"
#include "experiments/training_plan/plan_search.h"
#include "experiments/training_plan/plan_tables.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/program.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/outputs/memory_watch.h"
#include "harness/cli/outputs/output_files.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/terminal/status_line.h"
#include "harness/cli/terminal/terminal.h"
#include "harness/cli/train/model_options.h"
#include "reports/findings/memory_report.h"
#include "reports/tables/format.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {
namespace {

using experiments::FitAnswer;
using experiments::FitQuestion;
using experiments::RunPlan;

struct FitOptions {
  FitQuestion question;
  OutputFiles files;
  std::filesystem::path results, memory;  ///< Folders; empty: not wanted.
  reports::Canvas canvas;
  ColorMode color = ColorMode::automatic;
};

OptionList fit_options(FitOptions& options) {
  FitQuestion& question = options.question;
  options.files.offers.results = false;
  return joined({ttml_options(question.files),
                 data_options(question.files),
                 {engine_option(question.engine)},
                 mesh_options(question.mesh),
                 {{"--results", "DIR", "Writes DIR/fit.json, of the schema howard.fit/2",
                   to(options.results)},
                  {"--memory", "DIR",
                   "Writes to DIR what the set-up and the first step allocate, with who held it at "
                   "the peak",
                   to(options.memory)},
                  {"--no-search", "", "Says what the files ask for, and looks for nothing else",
                   to(question.search, false)}},
                 options.files.options(),
                 {color_option(options.color)},
                 picture_options(options.canvas),
                 chip_options(question.profiles)});
}

std::vector<reports::Table> tables_of(const FitAnswer& answer) {
  const RunPlan& plan = answer.plan;
  std::vector<reports::Table> tables;
  if (!plan.parts.empty()) tables.push_back(experiments::parts_table(plan));
  constexpr std::size_t kMostHolders = 6;
  if (plan.memory) {
    tables.push_back(reports::memory_phases_table(*plan.memory));
    tables.push_back(reports::memory_holders_table(*plan.memory, kMostHolders));
  }
  if (!answer.others.empty()) tables.push_back(experiments::settings_table(answer.others));
  return tables;
}

/// Says how to ask for the fastest run that fits.
void print_advice(const FitAnswer& answer) {
  if (answer.others.empty()) return;
  const RunPlan* const best = experiments::best_that_fits(answer.plan, answer.others);
  if (best == nullptr) {
    fmt::print("\nnothing of this fits: a smaller model, shorter sequences or more chips would\n");
    return;
  }
  fmt::print("\n{} ({}): {}\n", answer.plan.fits() ? "the fastest" : "what would fit",
             reports::counted(static_cast<std::size_t>(best->setting.chips()), "chip"),
             experiments::options_text(*best));
}

/// Shows that a search goes on: on a terminal all the time, elsewhere by a line now and then.
class SearchProgress {
 public:
  void count() {
    ++plans_;
    const std::string text = fmt::format("searching: {} runs planned", plans_);
    if (line_.is_due()) line_.show(text);
    const Clock::time_point now = Clock::now();
    if (line_.is_enabled() || now < next_) return;
    next_ = now + kInterval;
    complain(text);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kInterval{10};

  StatusLine line_{true};
  std::int64_t plans_ = 0;
  Clock::time_point next_ = Clock::now() + kInterval;
};

FitAnswer answer_of(const FitQuestion& question, bool prints) {
  SearchProgress progress;
  return experiments::fit(question,
                          {.note = [](const std::string& note) { complain("note: {}", note); },
                           .planned =
                               [&](const FitAnswer& planned) {
                                 if (prints) fmt::print("{}", experiments::plan_text(planned));
                                 std::fflush(stdout);
                               },
                           .before_plan = [&] { progress.count(); }});
}

int fit(const FitOptions& options) {
  training::require_named(options.question.files);
  static_cast<void>(read_settings(options.question.profiles, chip::load_profiles));
  for (const auto& folder : {options.results, options.memory}) {
    if (!folder.empty()) require_writable_folder(folder);
  }
  options.files.require_apart();
  options.files.require_writable();
  const bool prints = !options.files.use_standard_output();
  const FitAnswer answer = answer_of(options.question, prints);
  const Shown shown{.tables = tables_of(answer),
                    .json = [&] { return experiments::fit_json(answer); }};
  const reports::TerminalStyle style = terminal_style(STDOUT_FILENO, options.color);
  if (prints) {
    for (const reports::Table& table : shown.tables) {
      fmt::print("\n{}", reports::terminal_table(table, style));
    }
    print_advice(answer);
  }
  const RunPlan& plan = answer.plan;
  std::vector<std::filesystem::path> written;
  const bool well = options.files.write(shown, options.canvas, style, written);
  say_written(written);
  if (!options.results.empty()) write_file(options.results / "fit.json", shown.json());
  if (!options.memory.empty() && plan.memory) {
    reports::Canvas canvas = options.canvas;
    canvas.folder = options.memory;
    write_memory(*plan.memory, memory_tables(*plan.memory, "fit"), "fit", canvas);
  }
  return well && plan.clash.empty() ? kOk : kFailed;
}

}  // namespace

const Command kFit{
    .name = "fit",
    .summary = "say what a training run would take, and which settings are faster",
    .usage = {"-c FILE [--model FILE] [--device FILE] [--multihost FILE] [OPTIONS]"},
    .text =
        {{"",
          "It makes two updates on an emulated chip whose DRAM has no end, with TTML's engine and "
          "its order of calls. It says the peak of DRAM on each chip by phase and who holds it, "
          "how much that is over what a chip has, whether a kernel's circular buffers fit L1, the "
          "time of a step, what it consists of and how far such times were off, tokens per second, "
          "the share of the chips' peak, and the trace region that a capture would take. Then it "
          "looks for settings that make the same update faster: other batches with more or less "
          "accumulation, blocks that are kept or run again (runner_type memory_efficient), and 1, "
          "2, 4, 8 and 32 chips that divide the batch (DDP), the weights (TP), the blocks (PP), or "
          "several of these, or workers in tiers. If the run does not fit, the last line has the "
          "options of one that does."},
         {"",
          "Gradients are summed over chips after the backward pass, a sum for each parameter; the "
          "chips that share weights sum activations and their gradients in each block and gather "
          "the logits: as TTML does it, at the published rates of tt-metal's collectives over a "
          "line of chips. What is beyond one chip has no published figure to be compared with."},
         {"",
          "A multihost_config with a pipeline_parallel_config is a pipeline: a table says for each "
          "stage how long it works and waits (the bubble), how many micro-batches it holds at "
          "once, and its DRAM. The micro-batches are those of gradient_accumulation_steps. The "
          "search looks at TTML's order, at 1F1B, and at the best of 1F1B in two chunks; GPipe "
          "takes about the time of 1F1B and never less memory. A multihost_config without it is "
          "tiers: what each rank does comes after what the one before it does. Transfers "
          "between chips and their hosts take time, and so does the network between hosts, of "
          "which "
          "no figure is published (--set host.message=10GB/s)."},
         {"", "At most 1024 blocks and batches of 2^24 tokens are planned."}},
    .examples =
        {"run_experiment fit -c data/ttml/train_tinyllama.yaml",
         "run_experiment fit -c data/ttml/train_tinyllama.yaml --device data/ttml/loudbox_ddp.yaml",
         "run_experiment fit -c data/ttml/train_tinyllama.yaml --schedule 1f1b \\\n  --multihost "
         "data/ttml/tinyllama_pipeline_8.yaml",
         "run_experiment fit -c training.yaml --model llama.yaml --with batch_size=4 --json "
         "fit.json"},
    .begin = begin<fit_options, fit>};

}  // namespace howard::cli
