// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/cli/command/option.h"
#include "harness/cli/outputs/formats.h"
#include "reports/pictures/picture.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {

/// Says which files a command is asked for, and writes them: the one place that does. Commands
/// hand over what they have found (Shown), and every form is made of that.
class OutputFiles {
 public:
  /// Says what the command has, and where the files go that it writes by itself.
  Offers offers;
  std::optional<std::string>* page = nullptr;  ///< If set, offers.page is true.
  std::string* trace = nullptr;                ///< If set, offers.trace is true.

  /// Returns -o FILE and --format FORM, which may be repeated. The older options --json, --csv,
  /// --md, --times, --also and --export say the same of one form each. This object must outlive
  /// them.
  OptionList options();

  /// Returns whether nothing is written here.
  bool empty() const { return wanted_.empty(); }
  /// Returns whether these files are all that is to be written: one of them is not --times, which
  /// goes beside others.
  bool are_all() const { return are_all_; }
  bool has(std::string_view form) const;
  bool has_picture() const;
  /// Returns whether a form is made of results, and not of tables alone.
  bool need_results() const;
  /// Returns whether a form goes to standard output, where no table may stand then.
  bool use_standard_output() const;
  /// Returns the JSON file, to which a long run is saved; empty if there is none, or no file.
  std::filesystem::path json_file() const;

  /// Throws UsageError if two texts go to one stream, where no program could read them, or to one
  /// file, where one would be lost; also for a standard output without a form. `others` are files
  /// that other options name.
  void require_apart(std::vector<std::pair<std::string, std::string>> others = {}) const;
  /// Throws Error if a file cannot be written; this is checked before any time is spent.
  void require_writable() const;

  /// Writes the files, pictures as `canvas` says, and what goes to standard output in `style`. The
  /// files that were written are added to `written`. What cannot be written is said on standard
  /// error, and makes the result false.
  bool write(const Shown& shown, const reports::Canvas& canvas, const reports::TerminalStyle& style,
             std::vector<std::filesystem::path>& written) const;
  /// Prints what is shown in the form `usual`, unless another form goes to standard output.
  void print(const Shown& shown, std::string_view usual, const reports::TerminalStyle& style) const;

 private:
  struct Wanted {
    const Form* form;
    std::string file;    ///< "-" is standard output.
    std::string option;  ///< The name under which it was asked for.
  };
  void take(std::string_view option, const std::string& value);
  void add(std::string_view option, const Form* form, const std::string& file);
  [[noreturn]] void refuse(std::string_view option, const std::string& value) const;

  std::vector<Wanted> wanted_;
  bool are_all_ = false;
  bool stream_without_form_ = false;
};

/// Returns one line for each name, not one for each file: "results/matmul_sweep.{json,csv,md}".
std::vector<std::string> names_of_files(const std::vector<std::filesystem::path>& files);
/// Says on standard error what was written, in such lines.
void say_written(const std::vector<std::filesystem::path>& files);

/// Throws Error if a file cannot be written.
void require_writable_file(const std::string& file);

}  // namespace howard::cli
