// SPDX-License-Identifier: Apache-2.0
#include "engines/training/parallel/values_of_ranks.h"

namespace howard::training {

void send_tensor(CommandQueue& queue, mesh::Communicator& ranks, int to,
                 const ops::Tensor& tensor) {
  std::vector<std::byte> values(static_cast<std::size_t>(tensor.spec().host_bytes().value()));
  queue.read_buffer(tensor.buffer(), values);
  ranks.send(to, values);
}

void receive_tensor(CommandQueue& queue, mesh::Communicator& ranks, int from,
                    const ops::Tensor& tensor) {
  queue.write_buffer(tensor.buffer(), ranks.receive(from));
}

}  // namespace howard::training
