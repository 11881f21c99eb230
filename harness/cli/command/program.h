// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace howard::cli {

/// Returns the name by which this program was started: "run_experiment" or "howard".
std::string_view program_name();

/// Returns what a shell in this folder runs the program by: "howard" if it is installed,
/// "./run_experiment" in a checkout.
const std::string& typed_name();

/// Returns a text with typed_name() in its commands, in the place of the program's name.
std::string with_typed_name(std::string_view text);

/// Returns a text of this program, in which it is called run_experiment, with the name by which it
/// was started. Names of folders and files are left alone.
std::string with_program_name(std::string_view text);

/// Prints "PROGRAM: TEXT" to standard error, under the name by which the program was started.
void complain(std::string_view text);
template <class First, class... More>
void complain(fmt::format_string<First, More...> text, First&& first, More&&... more) {
  complain(
      std::string_view(fmt::format(text, std::forward<First>(first), std::forward<More>(more)...)));
}

/// Says where a user finds what help texts name.
struct ManualPlaces {
  std::string data;      ///< The folder of data/sonnets.txt.
  std::string profiles;  ///< The folder of wormhole_b0_n300.json.
  bool in_source_tree;   ///< True if there is the launcher ./run_experiment.
};

/// Returns the places of this program, as it was installed or in the source tree.
ManualPlaces manual_places();
/// Returns the places below the folder to which the program is installed.
ManualPlaces installed_places();

/// Returns a line of a manual with this program's name and with `places`.
std::string in_manual(std::string_view line, const ManualPlaces& places);

}  // namespace howard::cli
