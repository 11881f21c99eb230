// SPDX-License-Identifier: Apache-2.0
#include "python/bank_addresses.h"

#include <algorithm>
#include <iterator>

#include "engines/program/sharding.h"

namespace howard::python {
namespace {

constexpr std::int64_t kBlock = 32;   // of every buffer, in bytes
constexpr std::int64_t kL1Page = 16;  // what pages in L1 are rounded to; in DRAM it is kBlock

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

std::int64_t bytes_in_bank(const TensorSpec& spec, std::int64_t banks) {
  const bool tiles = spec.layout == Layout::tile;
  const std::int64_t columns = spec.sharding ? spec.sharding->columns : spec.shape.columns();
  const std::int64_t element = spec.host_bytes().value() / spec.shape.elements();
  const std::int64_t page = tiles ? tile_bytes(spec.dtype).value() : columns * element;
  const std::int64_t rows = spec.shape.batch() * spec.shape.rows();
  std::int64_t pages = 0;
  if (spec.sharding) {
    const std::int64_t high = spec.sharding->rows;
    pages = tiles ? rounded_up(high, kTileSide) * rounded_up(columns, kTileSide) /
                        (kTileSide * kTileSide)
                  : high;
  } else {
    pages = ceil_div(tiles ? spec.shape.tiles() : rows, banks);
  }
  const std::int64_t unit = spec.storage == Storage::l1 ? kL1Page : kBlock;
  return std::max(rounded_up(pages * rounded_up(page, unit), kBlock), kBlock);
}

BankAddresses::BankAddresses(std::int64_t bottom, std::int64_t top, Order order)
    : top_(top), order_(order), holes_{{bottom, top - bottom}} {}

std::int64_t BankAddresses::take(std::int64_t bytes) {
  const auto fits = [&](const auto& hole) { return hole.second >= bytes; };
  auto hole = holes_.end();
  if (order_ == Order::upwards) {
    hole = std::ranges::find_if(holes_, fits);
  } else {
    const auto last = std::find_if(holes_.rbegin(), holes_.rend(), fits);
    if (last != holes_.rend()) hole = std::prev(last.base());
  }
  if (hole == holes_.end()) return top_;
  const auto [start, size] = *hole;
  const std::int64_t address = order_ == Order::upwards ? start : start + size - bytes;
  holes_.erase(hole);
  if (size > bytes) holes_.emplace(order_ == Order::upwards ? start + bytes : start, size - bytes);
  taken_.emplace(address, bytes);
  return address;
}

void BankAddresses::give_back(std::int64_t address) {
  const auto buffer = taken_.find(address);
  if (buffer == taken_.end()) return;
  auto [hole, made] = holes_.emplace(address, buffer->second);
  taken_.erase(buffer);
  const auto after = std::next(hole);
  if (after != holes_.end() && hole->first + hole->second == after->first) {
    hole->second += after->second;
    holes_.erase(after);
  }
  if (hole == holes_.begin()) return;
  const auto before = std::prev(hole);
  if (before->first + before->second == hole->first) {
    before->second += hole->second;
    holes_.erase(hole);
  }
}

}  // namespace howard::python
