// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "engines/program/attributes.h"

namespace howard::profiler {

/// Reads what an op was told besides its operands, from the ATTRIBUTES cell of a log:
/// "{'transpose_a': 'false'; 'user_core_coord': '(x=8;y=7)'}".
class OpAttributes {
 public:
  /// `cell` must outlive this.
  explicit OpAttributes(std::string_view cell) : cell_(cell) {}

  /// Returns the value of a name; absent if the cell has no such name, or its value is
  /// std::nullopt.
  std::optional<std::string_view> find(std::string_view name) const;
  /// Returns a truth value; absent as for find(). Throws Error if it is not "true", "false", "1" or
  /// "0".
  std::optional<bool> flag(std::string_view name) const;
  /// Returns the value of a member of that name in any of the structs that attributes print, the
  /// first if there are several.
  std::optional<std::string_view> anywhere(std::string_view name) const;
  /// Returns what follows `name` and "=" within the value of `attribute`: "compute_kernel_config",
  /// "fp32_dest_acc_en" gives "1".
  std::optional<std::string_view> member(std::string_view attribute, std::string_view name) const;
  /// Parses "(x=8;y=7)"; absent as for find(). Throws Error if it is not a size.
  std::optional<CoreGrid> core_grid(std::string_view name) const;
  /// Parses "{[(x=0;y=0) - (x=7;y=6)]}", the range of cores, as a size; absent as for find().
  /// Throws Error if it is not a single range or does not begin at the first core.
  std::optional<CoreGrid> core_range(std::string_view name) const;

 private:
  std::string_view cell_;
};

}  // namespace howard::profiler
