// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "engines/chip/profiles/profile.h"
#include "harness/cli/command/option.h"
#include "harness/cli/outputs/output_files.h"
#include "harness/cli/terminal/terminal.h"
#include "harness/result.h"
#include "reports/pictures/picture.h"

namespace howard::experiments {
class Laboratory;
struct LaboratorySettings;
}  // namespace howard::experiments

namespace howard::cli {

// The options that several commands have are declared here. What they are bound to must outlive
// them.

/// Says where the results of a command go.
struct OutputPlaces {
  OutputFiles files;  ///< Those that the command line names.
  /// The folder of all of a run; empty: none is kept.
  std::filesystem::path results = "results";
  bool keeps_all = false;       ///< The folder was asked for, and gets every form.
  std::string pictures, trace;  ///< A folder and a file; "" is the default place, or none.
  std::filesystem::path device_logs, memory;  ///< Folders; empty if they are not wanted.
  reports::Canvas canvas;  ///< The settings of all pictures; its folder is not used.
  ColorMode color = ColorMode::automatic;
  bool all_rows = false;  ///< Shows all rows of a table, however many they are.
};

/// --results and -o, with --color.
OptionList output_options(OutputPlaces& places, std::string_view results_text);

/// --picture-size and --picture-format.
OptionList picture_options(reports::Canvas& canvas, const Applies& applies = {});

/// --color
Option color_option(ColorMode& color);

/// --threads, which says `text`.
Option threads_option(int& threads, std::string_view text);

/// --chip, --software and --set, which choose the constants of the emulator.
OptionList chip_options(chip::ProfileChoice& choice);

/// --no-binding of the host.
Option binding_option(bool& binding);

/// --backend of a command that runs on one of them.
Option backend_option(harness::Backend& backend);

/// --db
Option database_option(std::string& database, std::string_view text);

/// --page[=FILE]; without FILE, `page` becomes "".
Option page_option(std::optional<std::string>& page, std::string_view text,
                   const Applies& applies = {});

/// Checks --chip, --software and --set. Throws UsageError for a profile that is neither a name nor
/// a file and for a constant that is set twice; throws Error for a file that is not a profile.
void require_settings(const chip::ProfileChoice& choice);

/// Returns what `read` makes of --chip, --software and --set. Throws UsageError for a bad --set;
/// other errors are those of require_settings().
template <class Read>
auto read_settings(const chip::ProfileChoice& choice, Read read) {
  require_settings(choice);
  try {
    return read(choice);
  } catch (const Error& failure) {
    throw UsageError(failure.what());
  }
}

/// Opens the laboratory of these options. Throws UsageError for options that make no chip, and
/// Error for a file that is not a profile.
std::unique_ptr<experiments::Laboratory> open_laboratory(
    const experiments::LaboratorySettings& settings);

/// Throws UsageError if a run has --chip, --software or --set (`sets`) but nothing to run on the
/// emulated chip.
void require_chip(bool sets, bool has_chip);

}  // namespace howard::cli
