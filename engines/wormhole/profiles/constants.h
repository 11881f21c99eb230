// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace howard::wormhole {

/// One number of a profile as it stands in the file.
struct Constant {
  double value = 0;
  std::string unit;     ///< "ns", "cycles", "GB/s", "B/cycle", "KiB", "count", ...
  std::string meaning;  ///< What it is, in a sentence.
  /// "datasheet: ...", "calibrated on ...", "unknown: ...", "published measurement: ..." or
  /// "estimated by analogy with ...".
  std::string source;
  /// Least and most that a calibration may make of it, in `unit`, both positive; only a constant
  /// whose source says "calibrated on" has them.
  std::optional<std::array<double, 2>> bounds;

  bool is_calibrated() const { return source.starts_with("calibrated on "); }
};

/// The constants of one profile file, by dotted name, read with the unit each needs.
///
/// A file either holds every constant or says `"extends": NAME` and holds those that differ from
/// the built-in profile NAME. A reader takes each constant once with the typed accessors and then
/// calls `require_all_read`: a constant nobody reads is a misspelling, and an Error.
class Constants {
 public:
  /// Parses a profile; `origin` names it in errors. `kind` is "chip" or "software".
  /// Error when it is not JSON, not a howard.profile/1 of that kind, or has malformed constants:
  /// bounds that are not two positive numbers around the value, or of a constant that is not
  /// calibrated.
  static Constants parse(std::string_view json, std::string_view origin, std::string_view kind);

  const std::string& name() const { return name_; }
  void rename(std::string name) { name_ = std::move(name); }

  /// Whether there is a constant of that name, and all names.
  bool contains(std::string_view name) const { return constants_.contains(name); }
  std::vector<std::string> names() const;

  /// The constant of that name, which there must be.
  const Constant& at(std::string_view name) const;

  /// Gives a constant that has bounds another value within them, in its unit, and says in `source`
  /// what it was calibrated on ("" leaves its source as it is).
  void calibrate(std::string_view name, double value, std::string_view source = "");

  /// The whole profile as JSON that `parse` reads, whatever it was extended from.
  std::string to_json() const;

  /// Replaces a constant by `quantity`, a number and its unit: "190GB/s", "3 us". The profile's
  /// name then says so, and no calibration moves it. Error when it is not a number with a unit; the
  /// unit is checked where it is read.
  void set(std::string_view name, std::string_view quantity);

  /// Each Error: the constant is missing, has another kind of unit, or is out of range.
  /// Cycles and bytes per cycle follow `clock`, so that another clock is a fair what-if.
  SimTime time(std::string_view name, Frequency clock);
  SimTime time(std::string_view name);  ///< No cycles: for what does not follow the clock.
  Bandwidth bandwidth(std::string_view name, Frequency clock);
  /// A bandwidth in "%" of the constant `whole`, which it then follows, or by itself.
  Bandwidth share(std::string_view name, std::string_view whole, Frequency clock);
  /// A part of a whole in ten-thousandths, from a number in "%" of at most 10000.
  std::int64_t part(std::string_view name);
  Frequency frequency(std::string_view name);
  Bytes bytes(std::string_view name);
  int count(std::string_view name);
  bool flag(std::string_view name);  ///< A count of 0 or 1.

  void require_all_read() const;

 private:
  const Constant& take(std::string_view name);
  using Scale = std::map<std::string, double, std::less<>>;
  double scaled(std::string_view name, std::string_view accepted, const Scale& scale);
  Bandwidth positive_bandwidth(std::string_view name, const Scale& scale);

  std::string name_;
  std::string origin_;
  std::string kind_;
  std::map<std::string, Constant, std::less<>> constants_;
  std::set<std::string, std::less<>> read_;
};

/// Which family a profile file belongs to: "chip" or "software". Error when it is no profile.
std::string profile_kind(std::string_view json, std::string_view origin);

}  // namespace howard::wormhole
