// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/collective/transfer.h"

#include "engines/device/transfer.h"
#include "engines/ops/check.h"

namespace howard::ops {
namespace {

void require_peer(std::string_view op, const Tensor& tensor, const Operand& peer) {
  if (peer.spec.dtype == DataType::uint32 && peer.spec.shape.elements() == 1) return;
  refuse(op, {tensor.spec(), peer.spec}, "a tensor and the handle of another device");
}

}  // namespace

// The elements move as they are, as in a reshape.

Program send(const Tensor& tensor, const Operand& peer) {
  require_peer(kSend, tensor, peer);
  return {.name = kSend,
          .attributes = ReshapeAttributes{},
          .inputs = {tensor.operand()},
          .outputs = {peer}};
}

Program receive(const Operand& peer, const Tensor& tensor) {
  require_peer(kReceive, tensor, peer);
  return {.name = kReceive,
          .attributes = ReshapeAttributes{},
          .inputs = {peer},
          .outputs = {tensor.operand()}};
}

}  // namespace howard::ops
