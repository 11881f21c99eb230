// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace howard::cli {

/// The name that this program was started by: "run_experiment", "howard". Messages begin with it.
std::string_view program_name();

/// Puts `new_text` in the place of each `old_text`.
void replace_all(std::string& text, std::string_view old_text, std::string_view new_text);

/// Where a user finds what help texts name.
struct ManualPlaces {
  std::string data;      ///< The folder of data/sonnets.txt.
  std::string profiles;  ///< The folder of wormhole_b0_n300.json.
  bool in_source_tree;   ///< With the launcher ./run_experiment.
};

/// Those of this program, as it was installed or in the source tree.
ManualPlaces manual_places();

/// A help text with this program's name and with `places`, its columns kept.
std::string manual(std::string_view help, const ManualPlaces& places = manual_places());

/// A line of a list: "--seed N" and what it does. Without a term: a paragraph; in examples a line.
struct ManualItem {
  std::string term;
  std::string text;
};

/// A part of a manual under its title: "OPTIONS". The first one has none.
struct ManualSection {
  std::string title;
  std::vector<ManualItem> items;

  bool keeps_lines() const { return title == "EXAMPLES"; }
};

/// The parts of a help text.
std::vector<ManualSection> sections_of(std::string_view help);

}  // namespace howard::cli
