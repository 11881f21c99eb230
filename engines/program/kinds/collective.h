// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/program/kinds/rows.h"
#include "engines/program/operands.h"

namespace howard {

// A collective is a program that all devices of a group run together. A transfer is a program of
// two devices. The handle, one uint32, stands for the group or for the other device; which devices
// these are is known to those who connect them.

/// After it, each device has the tensors of all devices, side by side along one dimension.
struct AllGatherAttributes {
  static constexpr std::string_view kName = "all_gather";
  static constexpr std::array kInputs{role::reals("part"), role::one("group")};
  static constexpr std::array kResults{role::reals("whole")};

  int dimension = 3;  ///< One of the four dimensions.

  static void fields(auto& self, auto&& visit) { visit("dimension", self.dimension, Whole{0, 3}); }
  void check(Specs in, Specs out) const;

  friend auto operator<=>(const AllGatherAttributes&, const AllGatherAttributes&) = default;
};

/// After it, each device has its share, along the rows or the columns, of the sum of all devices'
/// tensors.
struct ReduceScatterAttributes {
  static constexpr std::string_view kName = "reduce_scatter";
  static constexpr std::array kInputs{role::reals("whole"), role::one("group")};
  static constexpr std::array kResults{role::reals("part")};

  Dimension dimension = Dimension::columns;

  int side() const { return dimension == Dimension::rows ? 2 : 3; }

  static void fields(auto& self, auto&& visit) { visit("dimension", self.dimension, kDimensions); }
  void check(Specs in, Specs out) const;

  friend auto operator<=>(const ReduceScatterAttributes&, const ReduceScatterAttributes&) = default;
};

/// Sends a tensor to the peer, which receives it. A file cannot ask for it: it is a mesh's.
struct SendAttributes {
  static constexpr std::string_view kName = "send";
  static constexpr std::array kInputs{role::reals("tensor")};
  static constexpr std::array kResults{role::one("peer")};
  static constexpr bool kOnlyOnMesh = true;

  static void check(Specs, Specs) {}

  friend auto operator<=>(const SendAttributes&, const SendAttributes&) = default;
};

/// Receives a tensor, of the same spec, that the peer sends.
struct ReceiveAttributes {
  static constexpr std::string_view kName = "receive";
  static constexpr std::array kInputs{role::one("peer")};
  static constexpr std::array kResults{role::reals("tensor")};
  static constexpr bool kOnlyOnMesh = true;

  static void check(Specs, Specs) {}

  friend auto operator<=>(const ReceiveAttributes&, const ReceiveAttributes&) = default;
};

}  // namespace howard
