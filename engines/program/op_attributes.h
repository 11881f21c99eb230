// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/program/compute_config.h"

namespace howard {

/// Returns what stands behind the "::" of an enumerator: "BinaryOpType::ADD", or
/// "op_type=...::ERF;".
std::string_view enumerator(std::string_view text);

/// Returns the numbers of a list like "Shape([0; 0; 32; 0])" or "((1; 1); (2; 2))"; absent for
/// another text.
std::optional<std::vector<std::int64_t>> parse_ttnn_list(std::string_view text);

/// Returns what follows `name` and "=" in a struct as ttnn prints it; absent if it has no such
/// member.
std::optional<std::string_view> ttnn_member(std::string_view text, std::string_view name);

/// Returns the names and values of a struct as ttnn prints it, "Name(a=1;b=(x=8;y=7))"; none of
/// another text.
std::vector<std::pair<std::string_view, std::string_view>> ttnn_members(std::string_view text);

/// Parses a size in cores, "(x=8;y=7)" or "8-7", of at most 64 by 64; absent for another text.
std::optional<CoreGrid> parse_ttnn_grid(std::string_view text);
/// Parses a set of cores, "{[(x=0;y=0) - (x=7;y=6)]}" or "{[0-0 - 7-6]}", as a size; absent unless
/// it is one range from the first core on.
std::optional<CoreGrid> parse_ttnn_range(std::string_view text);

/// Reads what an op was told besides its operands, from the ATTRIBUTES cell of a log:
/// "{'transpose_a': 'false'; 'user_core_coord': '(x=8;y=7)'}". It keeps what it was asked for, so
/// one thread uses it at a time.
class OpAttributes {
 public:
  /// `cell` must outlive this.
  explicit OpAttributes(std::string_view cell) : cell_(cell) {}

  /// Returns the value of a name, which versions of ttnn spell with and without "_" at the end;
  /// absent if the cell has no such name, or its value is std::nullopt.
  std::optional<std::string_view> find(std::string_view name) const;
  /// Returns a truth value; absent as for find(). Throws Error if it is not "true", "false", "1" or
  /// "0".
  std::optional<bool> flag(std::string_view name) const;
  /// Returns the value of a member of that name in any of the structs that attributes print, the
  /// first if there are several.
  std::optional<std::string_view> anywhere(std::string_view name) const;
  /// Returns a member of the struct that is the value of `attribute`: "compute_kernel_config",
  /// "fp32_dest_acc_en" gives "1".
  std::optional<std::string_view> member(std::string_view attribute, std::string_view name) const;

  /// Returns the names and values that nobody has asked this object for, in their order, but for
  /// those that say nothing: absent, false, zero or empty.
  std::vector<std::pair<std::string_view, std::string_view>> unread() const;

 private:
  std::string_view cell_;
  mutable std::vector<std::size_t> read_;  ///< Where in the cell the names begin that were found.
};

}  // namespace howard
