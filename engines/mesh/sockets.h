// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/mesh/communicator.h"
#include "engines/mesh/trace_splitter.h"

namespace howard::mesh {

/// Lets time pass on the clock of an emulated chip's host until `then`, if that is later, and then
/// for a message of `size` between the hosts.
using WaitUntil = std::function<void(SimTime then, Bytes size)>;

/// A device whose host sends tensors to the hosts of other ranks and receives theirs, as TTML's
/// sockets of type mpi do: it reads a tensor from the device behind it, or writes one to it.
///
/// A message between emulated chips also says when it was sent, and the receiver's clock waits for
/// that. So the virtual clocks of all ranks together show the time of a step, whatever its order.
/// As in TTML, an emulated receiver first reads its own tensor, for buffers of that size, and
/// copies what it has written to a new one.
class Sockets final : public TraceSplitter {
 public:
  /// `device` and `ranks` must outlive it. `wait_until` is empty on the wall clock.
  Sockets(Device& device, Communicator& ranks, WaitUntil wait_until = {});
  ~Sockets() override;
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;

  /// Returns the handle of a rank for Send and Receive programs. Messages of one channel are
  /// received in the order in which they were sent.
  Operand peer(int rank, int channel = 0);

  /// Says that all ranks begin a step now: times in messages count from here.
  void begin_step() { start_ = now(); }

 private:
  bool runs_itself(const Program& program) const override;
  void run(const Program& program) override;
  void send(const Operand& tensor, int rank, int channel);
  void receive(const Operand& tensor, int rank, int channel);

  Communicator& ranks_;
  WaitUntil wait_until_;
  SimTime start_;
  std::map<std::pair<int, int>, BufferId> handles_;
  std::map<BufferId, std::pair<int, int>> peers_;  ///< The rank and the channel of each handle.
};

}  // namespace howard::mesh
