// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "engines/autograd/calls.h"
#include "engines/mesh/communicator.h"
#include "engines/ops/tensor.h"
#include "engines/training/checkpoint.h"
#include "engines/training/share.h"

namespace howard::training {

/// Returns one number, 0: the loss of a rank whose step has none.
ops::Tensor no_loss(const autograd::Calls& calls);

/// Sends tensors with their names; receive_values() on rank `to` returns them.
void send_values(mesh::Communicator& ranks, int to, std::span<const NamedValues> tensors);
std::vector<NamedValues> receive_values(mesh::Communicator& ranks, int from);

template <class Number>
void send_number(mesh::Communicator& ranks, int to, const Number& number) {
  static_assert(std::is_trivially_copyable_v<Number>);
  ranks.send(to, std::as_bytes(std::span(&number, 1)));
}

template <class Number>
Number receive_number(mesh::Communicator& ranks, int from) {
  const std::vector<std::byte> bytes = ranks.receive(from);
  Number number;
  HOWARD_CHECK(bytes.size() == sizeof number, "ranks send what is waited for");
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

/// Brings each rank's number to rank 0, which joins them to one result, and brings that to all
/// ranks.
template <class Number, class Result, class Join>
Result join_numbers(mesh::Communicator& ranks, const Number& own, const Join& join) {
  if (ranks.rank() != 0) {
    send_number(ranks, 0, own);
    return receive_number<Result>(ranks, 0);
  }
  std::vector<Number> all{own};
  for (int rank = 1; rank < ranks.size(); ++rank) {
    all.push_back(receive_number<Number>(ranks, rank));
  }
  const Result result = join(std::span<const Number>(all));
  for (int rank = 1; rank < ranks.size(); ++rank) send_number(ranks, rank, result);
  return result;
}

/// Joins what the ranks say of step `number`: the sum of their losses and the longest time. Throws
/// Error on all ranks when the loss is not finite.
StepOutcome join_steps(mesh::Communicator& ranks, const StepOutcome& own, std::int64_t number);

}  // namespace howard::training
