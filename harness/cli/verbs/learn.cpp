// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/text.h"
#include "experiments/logs/learning.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/program.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/outputs/output_files.h"
#include "harness/cli/terminal/terminal.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {
namespace {

struct LearnOptions {
  std::vector<std::string> files;
  OutputFiles outputs;
  ColorMode color = ColorMode::automatic;
  chip::ProfileChoice profiles;
};

OptionList learn_options(LearnOptions& options) {
  options.outputs.offers.results = false;
  OptionList chip = chip_options(options.profiles);
  std::erase_if(chip, [](const Option& option) {
    return option.name() == "--set" || option.name() == "--card";
  });
  return joined({{{"", "FILE", "", to(options.files)}},
                 options.outputs.options(),
                 chip,
                 {color_option(options.color)}});
}

std::string files_text(const std::vector<std::string>& files) {
  std::vector<std::string> words;
  for (const std::string& file : files) words.push_back(shell_word(file));
  return join(words, " ");
}

int learn(LearnOptions& options) {
  if (options.files.empty()) throw UsageError("no file named; try run_experiment learn --help");
  static_cast<void>(read_settings(options.profiles, chip::load_profiles));
  options.outputs.require_apart();
  options.outputs.require_writable();
  experiments::Learnt learnt = experiments::learn(options.files, options.profiles);
  const std::filesystem::path file = options.outputs.json_file();
  learnt.card.name = file.empty() ? "card" : file.stem().string();
  const Shown shown{.tables = {experiments::learnt_table(learnt)},
                    .json = [&] { return learnt.card.to_json(); }};
  const reports::TerminalStyle style = terminal_style(STDOUT_FILENO, options.color);
  if (!options.outputs.use_standard_output()) {
    fmt::print("{}\n", reports::terminal_table(shown.tables.front(), style));
    for (const std::string& line : experiments::learnt_lines(learnt)) fmt::print("{}\n", line);
    for (const std::string& note : learnt.notes) fmt::print("{}\n", note);
    if (file.empty()) {
      fmt::print("to keep it: run_experiment learn {} -o my_card.json\n",
                 files_text(options.files));
    } else {
      fmt::print("to use it: run_experiment explain {} --card {}\n",
                 shell_word(options.files.back()), shell_word(file.string()));
    }
  }
  std::vector<std::filesystem::path> written;
  const bool well = options.outputs.write(shown, {}, style, written);
  say_written(written);
  return well ? kOk : kFailed;
}

}  // namespace

const Command kLearn{
    .name = "learn",
    .summary = "learn from logs of your own card what its kernels take",
    .usage = {"LOG... [CARD...] -o FILE.json [OPTIONS]"},
    .text =
        {{"",
          "It reads ops_perf_results CSVs (or raw files) of one card and writes a file that every "
          "command takes with --card: a call that ran on the card (the same op on the same shapes, "
          "layouts, memory and configuration) then takes the median of its runs, whose own spread "
          "is its expected error. A call of the same shapes with other types takes so much longer "
          "or "
          "shorter than the emulator says as that one. Other calls of a kind take so much longer "
          "or shorter than the "
          "emulator says as those that ran do, if that is nearer for calls that were kept back; "
          "otherwise the emulator's time stays."},
         {"",
          "The table says by kind what was gained: a third of the calls in turn is kept back, by "
          "call and not by run, and predicted from the others. What a time rests on is \"measured "
          "by you\" or \"learnt from your card\"."},
         {"",
          "A card that is given beside logs stays part of the new one. The file is text with a "
          "line for each call: what ran is found by op, in, out, told and grid, and us is its "
          "time. It is of one chip and one version of the software, and refused with others, and "
          "with --set, whose constants no measured time follows. What tune compares are the "
          "emulator's times."}},
    .examples = {"run_experiment learn ops_perf_results.csv -o my_card.json",
                 "run_experiment learn my_card.json ops_perf_results_2.csv -o my_card.json",
                 "run_experiment explain step.py --card my_card.json",
                 "run_experiment analyze new.csv --compare-emulated --card my_card.json"},
    .begin = begin<learn_options, learn>};

}  // namespace howard::cli
