// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/program/kinds/matmul.h"
#include "engines/program/kinds/rows.h"
#include "engines/program/operands.h"

namespace howard {

// A collective is a program that all devices of a group run together. A transfer is a program of
// two devices. The handle, one uint32, stands for the group or for the other device; which devices
// these are is known to those who connect them.

/// How the devices of a group are wired to each other, and how a collective uses the links.
struct LinkUse {
  int links = 1;      ///< Parallel links between neighbours, each of which has a part of the data.
  bool ring = false;  ///< The last device has links to the first one. Otherwise it is a line.
  int workers =
      0;          ///< Cores that move data in one direction of a link; 0: as many as ttnn chooses.
  int chunk = 0;  ///< A worker announces its data once in so many packets; 0: in 160.
  int buffers = 0;  ///< Packets that a worker may have on the way to the link; 0: one.

  static void fields(auto& self, auto&& visit) {
    visit({"links", "num_links"}, self.links, Whole{1, 16});
    visit({"ring", "topology=Topology::Linear/Topology::Ring"}, self.ring);
    visit({"workers", "num_workers_per_link"}, self.workers, Whole{0, 64});
    visit({"chunk", "chunks_per_sync"}, self.chunk, Whole{0, std::int64_t{1} << 20});
    visit({"buffers", "num_buffers_per_channel"}, self.buffers, Whole{0, std::int64_t{1} << 10});
  }

  friend auto operator<=>(const LinkUse&, const LinkUse&) = default;
};

/// After it, each device has the tensors of all devices, side by side along one dimension.
struct AllGatherAttributes {
  static constexpr std::string_view kName = "all_gather";
  static constexpr std::string_view kTtnn = "AllGatherAsyncDeviceOperation";
  static constexpr std::array kInputs{role::any("part"), role::one("group")};
  static constexpr std::array kResults{role::any("whole")};

  int dimension = 3;  ///< One of the four dimensions.
  LinkUse use{};

  static void fields(auto& self, auto&& visit) {
    visit({"dimension", ""}, self.dimension, Whole{0, 3});
    LinkUse::fields(self.use, visit);
  }
  void check(Specs in, Specs out) const;

  friend auto operator<=>(const AllGatherAttributes&, const AllGatherAttributes&) = default;
};

/// Returns the spec of `devices` tensors like `part` side by side along `dimension`, 0 to 3.
TensorSpec all_gather_output(const TensorSpec& part, int devices, int dimension);

/// After it, each device has its share, along the rows or the columns, of the sum of all devices'
/// tensors.
struct ReduceScatterAttributes {
  static constexpr std::string_view kName = "reduce_scatter";
  static constexpr std::string_view kTtnn = "ReduceScatterMinimalAsyncDeviceOperation";
  static constexpr std::array kInputs{role::reals("whole"), role::one("group")};
  static constexpr std::array kResults{role::reals("part")};

  Dimension dimension = Dimension::columns;
  LinkUse use{};

  int side() const { return dimension == Dimension::rows ? 2 : 3; }

  static void fields(auto& self, auto&& visit) {
    visit({"dimension", ""}, self.dimension, kDimensions);
    LinkUse::fields(self.use, visit);
  }
  void check(Specs in, Specs out) const;

  friend auto operator<=>(const ReduceScatterAttributes&, const ReduceScatterAttributes&) = default;
};

/// Returns the spec of a device's share of `whole` along its rows or its columns. Throws Error when
/// the devices do not divide them.
TensorSpec reduce_scatter_output(const TensorSpec& whole, int devices, Dimension dimension);

/// Gathers A over the devices and multiplies it by B in one program: the product begins with what
/// has come. This is ttnn's all_gather_matmul_async.
struct AllGatherMatmulAttributes {
  static constexpr std::string_view kName = "all_gather_matmul";
  static constexpr std::string_view kTtnn = "AllGatherMatmulAsyncDeviceOperation";
  static constexpr std::array kInputs{role::tiles("part"), role::one("group"), role::tiles("b"),
                                      role::maybe(role::tiles("bias"))};
  static constexpr std::array kResults{role::tiles("whole"), role::tiles("product")};

  AllGatherAttributes gather{};
  MatmulAttributes matmul{};

  static void fields(auto& self, auto&& visit) {
    AllGatherAttributes::fields(self.gather, visit);
    MatmulAttributes::fields(self.matmul, visit);
  }
  void check(Specs in, Specs out) const;
  Flops flops(Specs in, Specs out) const;

  friend auto operator<=>(const AllGatherMatmulAttributes&,
                          const AllGatherMatmulAttributes&) = default;
};

/// Multiplies A by B and leaves each device its share of the sum of all devices' products in one
/// program: what is computed goes on its way at once. This is ttnn's matmul_reduce_scatter_async.
struct MatmulReduceScatterAttributes {
  static constexpr std::string_view kName = "matmul_reduce_scatter";
  static constexpr std::string_view kTtnn = "MatmulReduceScatterAsyncDeviceOperation";
  static constexpr std::array kInputs{role::tiles("a"), role::one("group"), role::tiles("b"),
                                      role::maybe(role::tiles("bias"))};
  static constexpr std::array kResults{role::tiles("product"), role::tiles("part")};

  ReduceScatterAttributes scatter{};
  MatmulAttributes matmul{};

  static void fields(auto& self, auto&& visit) {
    ReduceScatterAttributes::fields(self.scatter, visit);
    MatmulAttributes::fields(self.matmul, visit);
  }
  void check(Specs in, Specs out) const;
  Flops flops(Specs in, Specs out) const;

  friend auto operator<=>(const MatmulReduceScatterAttributes&,
                          const MatmulReduceScatterAttributes&) = default;
};

// Experts of a mixture lie on the devices of a mesh, of which a group exchanges tokens: each device
// has the tokens [b, 1, s, d] or [1, b, s, d], and their choices [.., .., s, k] of k experts. The
// mapping [1, 1, experts, devices] says who has which.

/// After it, each device has the tokens that chose one of its experts, at their places among the
/// tokens of the group, and what all of these chose: ttnn's all_to_all_dispatch.
struct AllToAllDispatchAttributes {
  static constexpr std::string_view kName = "all_to_all_dispatch";
  static constexpr std::string_view kTtnn = "AllToAllDispatchDeviceOperation";
  static constexpr std::array kInputs{role::rows("tokens"), role::one("group"),
                                      role::indices("chosen"), role::indices("mapping")};
  static constexpr std::array kResults{role::rows("sent"), role::indices("all_chosen")};

  LinkUse use{};

  static void fields(auto& self, auto&& visit) { LinkUse::fields(self.use, visit); }
  void check(Specs in, Specs out) const;

  friend auto operator<=>(const AllToAllDispatchAttributes&,
                          const AllToAllDispatchAttributes&) = default;
};

/// Brings back to each token what its experts made of it, [experts of the device, tokens of the
/// group, d]: the result is [k, tokens of the device, d]. This is ttnn's all_to_all_combine.
struct AllToAllCombineAttributes {
  static constexpr std::string_view kName = "all_to_all_combine";
  static constexpr std::string_view kTtnn = "AllToAllCombineDeviceOperation";
  static constexpr std::array kInputs{role::rows("made"), role::one("group"),
                                      role::indices("all_chosen"), role::indices("mapping")};
  static constexpr std::array kResults{role::rows("back")};

  LinkUse use{};

  static void fields(auto& self, auto&& visit) { LinkUse::fields(self.use, visit); }
  void check(Specs in, Specs out) const;

  friend auto operator<=>(const AllToAllCombineAttributes&,
                          const AllToAllCombineAttributes&) = default;
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
