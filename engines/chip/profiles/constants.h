// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"

namespace howard::chip {

/// One number of a profile, as the file states it.
struct Constant {
  double value = 0;
  std::string unit;     ///< "ns", "cycles", "GB/s", "B/cycle", "KiB", "count", ...
  std::string meaning;  ///< What the constant means, in one sentence.
  /// "datasheet: ...", "calibrated on ...", "unknown: ...", "published measurement: ..." or
  /// "estimated by analogy with ...".
  std::string source;
  /// The least and the greatest value that a calibration may choose, in `unit`, both positive. Only
  /// a constant whose source says "calibrated on" has bounds.
  std::optional<std::array<double, 2>> bounds;

  friend bool operator==(const Constant&, const Constant&) = default;

  bool is_calibrated() const { return source.starts_with("calibrated on "); }
};

/// The constants of one profile file, by dotted name. They are read with typed accessors that check
/// units.
///
/// A file either holds every constant, or says `"extends": NAME` and holds those that differ from
/// the built-in profile NAME. A reader takes each constant once with the typed accessors and then
/// calls `require_all_read`: a constant that nobody reads is a misspelling and throws Error.
class Constants {
 public:
  /// Parses a profile; `origin` is its name in errors. `kind` is "chip" or "software". Throws Error
  /// when it is not JSON, is not a howard.profile/1 of that kind, or has malformed constants.
  /// Bounds are malformed if they are not two positive numbers around the value, or if the constant
  /// is not calibrated.
  static Constants parse(std::string_view json, std::string_view origin, std::string_view kind);

  const std::string& name() const { return name_; }
  /// Returns what tt-metal's logs call the chip, "wormhole_b0"; "" for software.
  const std::string& architecture() const { return architecture_; }
  void rename(std::string name) { name_ = std::move(name); }
  /// Returns the built-in profile of which this is a variant: itself, or the one that its file
  /// extends. It stays when constants are set and when the profile is renamed. "" for a file that
  /// extends none.
  const std::string& built_in() const { return built_in_; }

  /// Returns whether there is a constant of that name; names() returns all names.
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  std::vector<std::string> names() const;

  /// Returns the constant of that name, which must exist.
  const Constant& at(std::string_view name) const;

  /// Gives a constant that has bounds another value within them, in its unit. `source` says what it
  /// was calibrated on; "" leaves its source unchanged.
  void calibrate(std::string_view name, double value, std::string_view source = "");

  /// Returns the whole profile as JSON that `parse` reads, including what it took from another
  /// profile.
  std::string to_json() const;

  /// Replaces a constant by `quantity`, a number and its unit: "190GB/s", "3 us". The profile's
  /// name then says so, and no calibration moves the constant. Throws Error when `quantity` is not
  /// a number with a unit. The unit is checked when the constant is read.
  void set(std::string_view name, std::string_view quantity);

  /// Makes this variant of the built-in profile `from` one of `to`: each constant that is as `from`
  /// has it becomes as `to` has it. What a file or the user set stays.
  void rebase(const Constants& from, const Constants& to);

  /// These throw Error when the constant is missing, has another kind of unit, or is out of range.
  /// Cycles and bytes per cycle follow `clock`, so that a what-if with another clock is fair.
  SimTime time(std::string_view name, Frequency clock);
  /// Reads a time that does not follow the clock; cycles are not accepted.
  SimTime time(std::string_view name);
  Bandwidth bandwidth(std::string_view name, Frequency clock);
  /// Reads a bandwidth that is given in "%" of the constant `whole`, which it then follows, or by
  /// itself.
  Bandwidth share(std::string_view name, std::string_view whole, Frequency clock);
  /// Reads a part of a whole in ten-thousandths, from a number in "%" of at most 10000.
  std::int64_t part(std::string_view name);
  Frequency frequency(std::string_view name);
  Bytes bytes(std::string_view name);
  std::int64_t power(std::string_view name);  ///< Reads whole milliwatts.
  int count(std::string_view name);
  bool flag(std::string_view name);  ///< Reads a count of 0 or 1.

  void require_all_read() const;

 private:
  /// A unit that a reader accepts, and how much of the reader's own unit one of it is.
  struct Unit {
    std::string_view name;
    double factor = 0;
  };
  /// A sweep copies a profile for each of its points, so copies share the constants that they have
  /// in common.
  struct Entry {
    std::string_view name() const { return constant->first; }

    std::shared_ptr<const std::pair<const std::string, Constant>> constant;
    bool read = false;
  };

  const Entry* find(std::string_view name) const;
  /// Adds a constant, or replaces the one of that name.
  void put(std::string name, Constant constant);
  const Constant& take(std::string_view name);
  double scaled(std::string_view name, std::string_view accepted, std::span<const Unit> units);
  /// Returns a time in whole picoseconds. Throws Error if one that is not 0 would become 0.
  SimTime whole_time(std::string_view name, std::span<const Unit> units);
  /// Returns the units of a rate, with those of a cycle of `clock`.
  static std::vector<Unit> rates(Frequency clock);
  Bandwidth positive_bandwidth(std::string_view name, std::span<const Unit> units);

  std::string name_;
  std::string built_in_;
  std::string architecture_;
  std::string origin_;
  std::string kind_;
  std::vector<Entry> entries_;  ///< In the order of their names.
};

/// Returns where the number ends with which `quantity` begins: 3 for "2e2GB/s".
std::size_t number_end(std::string_view quantity);

/// Returns what a constant of this name is called now, or "" if it never had another name.
std::string_view renamed_constant(std::string_view name);

/// Profiles and cards (card.h) name this schema.
inline constexpr std::string_view kProfileSchema = "howard.profile/1";

/// Returns which kind of profile a file is: "chip", "software" or "card". Throws Error when it is
/// no profile.
std::string profile_kind(std::string_view json, std::string_view origin);

}  // namespace howard::chip
