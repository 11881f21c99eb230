// SPDX-License-Identifier: Apache-2.0
#include "engines/mesh/communicator.h"

namespace howard::mesh {

void Communicator::send(int to, std::span<const std::byte> message, int channel) {
  ++sent_.count;
  sent_.bytes += static_cast<std::int64_t>(message.size());
  do_send(to, message, channel);
}

void wait_for_all(Communicator& ranks) {
  const std::byte nothing{};
  if (ranks.rank() != 0) {
    ranks.send(0, std::span(&nothing, 1));
    static_cast<void>(ranks.receive(0));
    return;
  }
  for (int other = 1; other < ranks.size(); ++other) static_cast<void>(ranks.receive(other));
  for (int other = 1; other < ranks.size(); ++other) ranks.send(other, std::span(&nothing, 1));
}

}  // namespace howard::mesh
