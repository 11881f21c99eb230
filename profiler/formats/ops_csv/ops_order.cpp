// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/ops_csv/ops_order.h"

#include <algorithm>
#include <tuple>

namespace howard::profiler {

bool OpsOrder::add(std::int64_t cycle, LoggedOp& op) {
  const auto start = counter_.continued(cycle);
  if (!start) return false;
  op.start = *start;
  const std::int64_t wraps = (*start - cycle) / CycleCounter::kModulus;
  op.wraps = static_cast<std::uint8_t>(std::min<std::int64_t>(wraps, 255));
  in_order_ = in_order_ && *start >= last_;
  last_ = *start;
  return true;
}

void sort_by_start(LoggedOps& ops) {
  std::vector<LoggedOp> all;
  for (std::vector<LoggedOp>& piece : ops) {
    all.insert(all.end(), piece.begin(), piece.end());
    std::vector<LoggedOp>().swap(piece);
  }
  bool near_end = false, near_begin = false;
  for (LoggedOp& op : all) {
    op.start -= op.wraps * CycleCounter::kModulus;
    near_end |= op.start < CycleCounter::kModulus &&
                op.start >= CycleCounter::kModulus - CycleCounter::kNearEnd;
    near_begin |= op.start < CycleCounter::kNearEnd;
  }
  if (near_end && near_begin) {
    for (LoggedOp& op : all) {
      if (op.start < CycleCounter::kModulus / 2) op.start += CycleCounter::kModulus;
    }
  }
  std::ranges::stable_sort(all, [](const LoggedOp& a, const LoggedOp& b) {
    const auto key = [](const LoggedOp& op) {
      return std::tuple(op.start, op.cycles, op.kernel, op.sub_device, op.trace, op.replay,
                        op.host_start, op.op_to_op, op.cores);
    };
    return key(a) < key(b);
  });
  ops.clear();
  ops.push_back(std::move(all));
}

}  // namespace howard::profiler
