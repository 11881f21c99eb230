// SPDX-License-Identifier: Apache-2.0
#include "engines/mesh/sockets.h"

#include <cstring>

#include "base/check.h"
#include "engines/program/program.h"

namespace howard::mesh {
namespace {

const TensorSpec kHandle{{1, 1}, DataType::uint32, Layout::row_major};

std::size_t size_of(const Operand& tensor) {
  return static_cast<std::size_t>(tensor.spec.host_bytes().value());
}

}  // namespace

Sockets::Sockets(Device& device, Communicator& ranks, WaitUntil wait_until)
    : TraceSplitter(device), ranks_(ranks), wait_until_(std::move(wait_until)) {}

Sockets::~Sockets() {
  for (const auto& [handle, peer] : peers_) release(handle);
}

Operand Sockets::peer(int rank, int channel) {
  const auto [entry, is_new] = handles_.try_emplace({rank, channel});
  if (is_new) {
    entry->second = allocate(kHandle);
    peers_.emplace(entry->second, entry->first);
  }
  return {entry->second, kHandle};
}

bool Sockets::runs_itself(const Program& program) const {
  return std::holds_alternative<SendAttributes>(program.attributes) ||
         std::holds_alternative<ReceiveAttributes>(program.attributes);
}

void Sockets::run(const Program& program) {
  const bool sends = std::holds_alternative<SendAttributes>(program.attributes);
  const Operand& peer = sends ? program.outputs[0] : program.inputs[0];
  const auto [rank, channel] = peers_.at(peer.buffer);
  sends ? send(program.inputs[0], rank, channel) : receive(program.outputs[0], rank, channel);
}

void Sockets::send(const Operand& tensor, int rank, int channel) {
  const std::size_t size = size_of(tensor);
  std::vector<std::byte> message(size);
  if (wait_until_) queue_behind().finish();
  queue_behind().read_buffer(tensor.buffer, message);
  if (wait_until_) {
    const SimTime sent = now() - start_;
    message.resize(size + sizeof sent);
    std::memcpy(message.data() + size, &sent, sizeof sent);
  }
  ranks_.send(rank, message, channel);
}

void Sockets::receive(const Operand& tensor, int rank, int channel) {
  const std::vector<std::byte> message = ranks_.receive(rank, channel);
  const std::size_t size = size_of(tensor);
  SimTime sent;
  HOWARD_CHECK(message.size() == size + (wait_until_ ? sizeof sent : 0),
               "ranks send the tensors that others wait for");
  const std::span values = std::span(message).first(size);
  if (!wait_until_) return queue_behind().write_buffer(tensor.buffer, values);
  std::memcpy(&sent, message.data() + size, sizeof sent);
  std::vector<std::byte> own(size);
  queue_behind().finish();
  queue_behind().read_buffer(tensor.buffer, own);
  wait_until_(start_ + sent, tensor.spec.padded_bytes());
  const Operand arrived{allocate(tensor.spec), tensor.spec};
  queue_behind().write_buffer(arrived.buffer, values);
  queue_behind().enqueue(
      make_program(EltwiseAttributes{.function = Eltwise::identity}, {arrived}, {tensor}));
  release(arrived.buffer);
}

}  // namespace howard::mesh
