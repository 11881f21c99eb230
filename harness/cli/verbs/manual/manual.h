// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace howard::cli {

/// Returns the name by which this program was started: "run_experiment" or "howard". Messages begin
/// with it.
std::string_view program_name();

/// Replaces each `old_text` by `new_text`.
void replace_all(std::string& text, std::string_view old_text, std::string_view new_text);

/// Says where a user finds what help texts name.
struct ManualPlaces {
  std::string data;      ///< The folder of data/sonnets.txt.
  std::string profiles;  ///< The folder of wormhole_b0_n300.json.
  bool in_source_tree;   ///< True if there is the launcher ./run_experiment.
};

/// Returns the places of this program, as it was installed or in the source tree.
ManualPlaces manual_places();

/// Returns a help text with this program's name and with `places`, and keeps its columns.
std::string manual(std::string_view help, const ManualPlaces& places = manual_places());

/// Holds a line of a list: "--seed N" and what it does. Without a term it is a paragraph, or a line
/// of the examples.
struct ManualItem {
  std::string term;
  std::string text;
};

/// Holds a part of a manual with its title: "OPTIONS". The first one has no title.
struct ManualSection {
  std::string title;
  std::vector<ManualItem> items;

  bool keeps_lines() const { return title == "EXAMPLES"; }
};

/// Returns the parts of a help text.
std::vector<ManualSection> sections_of(std::string_view help);

}  // namespace howard::cli
