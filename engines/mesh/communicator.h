// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace howard::mesh {

/// Counts what one rank has sent.
struct SentMessages {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

/// One of several ranks that work on one training run together, as threads of a process or as
/// processes. Messages of one channel from one rank to another arrive in the order in which they
/// were sent.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Hands a message over and returns without waiting for it to be received. Throws Error when a
  /// rank has ended early.
  void send(int to, std::span<const std::byte> message, int channel = 0);
  /// Waits for the next message of `from`. Throws Error when a rank ends before the message is
  /// sent.
  std::vector<std::byte> receive(int from, int channel = 0) { return do_receive(from, channel); }

  const SentMessages& sent() const { return sent_; }

 private:
  virtual void do_send(int to, std::span<const std::byte> message, int channel) = 0;
  virtual std::vector<std::byte> do_receive(int from, int channel) = 0;

  SentMessages sent_;
};

/// Returns when all ranks have called it.
void wait_for_all(Communicator& ranks);

}  // namespace howard::mesh
