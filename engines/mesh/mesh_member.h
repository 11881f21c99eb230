// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engines/mesh/communicator.h"
#include "engines/mesh/trace_splitter.h"
#include "engines/program/program.h"

namespace howard::mesh {

/// A device that computes and is connected to the devices of other ranks: it runs collectives with
/// them and hands everything else on to the device behind it. Sums are made in the order of the
/// ranks and in float32, so all devices get the same bits.
///
/// Behind an emulated chip, it computes the values of the programs that the chip times.
class MeshMember final : public TraceSplitter {
 public:
  /// `ranks` must outlive it. The handle of a group holds its index in `groups`, each
  /// of which has the ranks of its members in their order, this rank among them.
  MeshMember(Device& device, Communicator& ranks, std::vector<std::vector<int>> groups);

 private:
  bool runs_itself(const Program& program) const override;
  /// A collective waits for all earlier programs, and the host waits for it. All members must make
  /// the same collectives.
  void run(const Program& program) override;

  const std::vector<int>& group_of(const Program& program);
  std::vector<std::byte> read(const Operand& operand);
  std::vector<std::byte> gather(const std::vector<int>& group, int dimension, const Operand& part);
  std::vector<std::byte> sum_share(const std::vector<int>& group, int dimension,
                                   const Operand& whole);

  Communicator& ranks_;
  std::vector<std::vector<int>> groups_;
};

}  // namespace howard::mesh
