// SPDX-License-Identifier: Apache-2.0
#include "tests/engines/chip/memory/dram_simulation.h"

#include <algorithm>
#include <utility>

namespace howard::chip {
namespace {

// Sources: ISA documentation (routes, hops, channels, buffers, a channel's rate of 22 GB/s), tt-npe
// (injection of 30 B/cycle, read latency). The bank's page time and its turn from reads to writes,
// the channels of responses and the buffer of writes are those that give elementwise ops and
// transposes on N150 and the report's steps on 8x7 together within some 7 %.
constexpr std::int64_t kBankPage = 98, kTurn = 20;
constexpr std::int64_t kLinkPage = 65, kInjection = 68;  // of a shared link, of a core
constexpr std::int64_t kHop = 9, kEnds = 10, kIssue = 40;
constexpr std::int64_t kReadLatency = 300, kAcknowledge = 100;
constexpr int kReadChannels = 3, kWriteChannels = 1;
constexpr int kLinksOfAPage = 4;  // a router holds 512 of 2048 bytes
constexpr int kUnsentOfABank = 3, kWriteBuffer = 2, kTilesInFlight = 2;

constexpr std::array<std::pair<int, int>, 12> kBankPlaces{{{0, 11},
                                                           {0, 1},
                                                           {0, 5},
                                                           {0, 7},
                                                           {5, 1},
                                                           {5, 11},
                                                           {5, 2},
                                                           {5, 9},
                                                           {5, 8},
                                                           {5, 3},
                                                           {5, 5},
                                                           {5, 7}}};
constexpr std::array<int, 8> kColumns{1, 2, 3, 4, 6, 7, 8, 9};
constexpr std::array<int, 8> kRows{1, 2, 3, 4, 5, 7, 8, 9};
constexpr std::array<int, 2> kSides{10, 12};
constexpr int kPort = 2;  // an axis of its own: from the router into the core or the bank

std::size_t place(int index) { return static_cast<std::size_t>(index); }

}  // namespace

DramSimulation::DramSimulation(int tiles, int inputs, int cores) : inputs_(inputs) {
  const int used = std::min(tiles, cores);
  const int rows = cores / 8;
  int page = 0;
  for (int i = 0; i < used; ++i) {
    // Ops of two tensors deal row by row, of one column by column.
    const bool by_row = inputs > 1;
    const int column = by_row ? i % 8 : i / rows;
    const int row = by_row ? i / 8 : i % rows;
    Core core{.place = {kColumns.at(place(column)), kRows.at(place(row))},
              .first_page = page,
              .tiles = tiles / used + (i < tiles % used ? 1 : 0)};
    page += core.tiles;
    cores_.push_back(core);
  }
}

std::int64_t DramSimulation::run(Time start, Time skew, Time compute) {
  compute_ = compute;
  for (int i = 0; i < static_cast<int>(cores_.size()); ++i) {
    at(start + skew * i / 64, [this, i] { move_on(i); });
  }
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    now_ = event.time;
    event.action();
  }
  return now_;
}

int DramSimulation::link_of(int noc, int axis, Place at, bool past_date_line) {
  return (((noc * 3 + axis) * kSides[0] + at.x) * kSides[1] + at.y) * 2 + (past_date_line ? 1 : 0);
}

std::vector<int> DramSimulation::route(int noc, Place from, Place to) {
  std::vector<int> links;
  for (const int axis : noc == 0 ? std::array{0, 1} : std::array{1, 0}) {
    const int side = kSides.at(place(axis));
    const int last = noc == 0 ? side - 1 : 0;
    int& position = axis == 0 ? from.x : from.y;
    bool past = false;
    while (position != (axis == 0 ? to.x : to.y)) {
      past = past || position == last;
      links.push_back(link_of(noc, axis, from, past));
      position = (position + (noc == 0 ? 1 : side - 1)) % side;
    }
  }
  links.push_back(link_of(noc, kPort, to, false));
  return links;
}

void DramSimulation::at(Time time, std::function<void()> action) {
  events_.push({time, ++sequence_, std::move(action)});
}

/// Whatever reader, compute and writer of a core can begin now.
void DramSimulation::move_on(int index) {
  Core& core = cores_[place(index)];
  if (!core.reading && core.read < core.tiles && core.read - core.made < kTilesInFlight) {
    start_read(index);
  }
  if (!core.making && core.made < core.read && core.made - core.written < kTilesInFlight) {
    core.making = true;
    at(now_ + compute_, [this, index] {
      cores_[place(index)].making = false;
      ++cores_[place(index)].made;
      move_on(index);
    });
  }
  if (!core.writing && core.written < core.made) start_write(index);
}

void DramSimulation::start_read(int index) {
  Core& core = cores_[place(index)];
  core.reading = true;
  core.missing = inputs_;
  const int bank = (core.first_page + core.read) % kBanks;
  const auto [x, y] = kBankPlaces.at(place(bank));
  const auto hops = static_cast<Time>(route(0, core.place, {x, y}).size());
  for (int input = 1; input <= inputs_; ++input) {
    at(now_ + kIssue * input + kEnds + kHop * hops, [this, index, bank] {
      banks_.at(place(bank)).reads.push_back({.since = now_, .core = index});
      serve(bank);
    });
  }
}

void DramSimulation::start_write(int index) {
  Core& core = cores_[place(index)];
  core.writing = true;
  const int bank = (core.first_page + core.written) % kBanks;
  at(now_ + kIssue + kEnds, [this, index, bank] {
    const auto [x, y] = kBankPlaces.at(place(bank));
    Packet packet{.links = route(1, cores_[place(index)].place, {x, y}),
                  .length = kInjection,
                  .bank = bank,
                  .core = index};
    packet.links.pop_back();  // the bank itself is what it waits for at the end
    packets_.push_back(std::move(packet));
    ask_for_link(static_cast<int>(packets_.size()) - 1);
  });
}

void DramSimulation::ask_for_link(int index) {
  const Packet& packet = packets_[place(index)];
  const int link = packet.links[packet.heads.size()];
  if (in_use_[link] < (packet.is_read ? kReadChannels : kWriteChannels)) {
    enter_link(index, link);
  } else {
    waiting_[link].push_back(index);
  }
}

void DramSimulation::enter_link(int index, int link) {
  const int sharing = ++in_use_[link];
  Packet& packet = packets_[place(index)];
  if (sharing > 1) packet.length = std::max(packet.length, sharing * kLinkPage);
  packet.heads.push_back(now_);
  if (packet.heads.size() == 1 && packet.is_read) {
    --banks_.at(place(packet.bank)).unsent;
    at(now_, [this, bank = packet.bank] { serve(bank); });
  }
  if (packet.heads.size() >= kLinksOfAPage) {
    leave_link(index, packet.heads.size() - kLinksOfAPage, false);
  }
  if (packet.heads.size() < packet.links.size()) {
    at(now_ + kHop, [this, index] { ask_for_link(index); });
  } else {
    arrive(index);
  }
}

/// Its tail passes a link when the routers ahead have taken a quarter of the page each.
void DramSimulation::leave_link(int index, std::size_t from, bool at_end) {
  const Packet& packet = packets_[place(index)];
  std::vector<Time> heads(packet.heads.begin() + static_cast<std::ptrdiff_t>(from),
                          packet.heads.end());
  if (at_end) heads.push_back(now_);
  Time passed = now_;
  for (std::size_t ahead = 0; ahead < heads.size(); ++ahead) {
    const Time left = std::max<Time>(0, kLinksOfAPage - static_cast<Time>(ahead));
    passed = std::max(passed, heads[ahead] + packet.length * left / kLinksOfAPage);
  }
  at(passed, [this, link = packet.links[from]] { free_link(link); });
}

/// The links that it still keeps, once its end takes it in.
void DramSimulation::leave_all(int index) {
  const std::size_t links = packets_[place(index)].links.size();
  for (std::size_t i = links - std::min<std::size_t>(links, kLinksOfAPage - 1); i < links; ++i) {
    leave_link(index, i, true);
  }
}

void DramSimulation::free_link(int link) {
  --in_use_[link];
  std::deque<int>& waiting = waiting_[link];
  if (waiting.empty()) return;
  const int next = waiting.front();
  waiting.pop_front();
  enter_link(next, link);
}

void DramSimulation::arrive(int index) {
  const Packet& packet = packets_[place(index)];
  if (packet.is_read) {
    leave_all(index);
    at(now_ + packet.length + kEnds, [this, core = packet.core] {
      if (--cores_[place(core)].missing > 0) return;
      cores_[place(core)].reading = false;
      ++cores_[place(core)].read;
      move_on(core);
    });
    return;
  }
  Bank& bank = banks_.at(place(packet.bank));
  const bool drained = bank.buffered < kWriteBuffer;
  if (drained) {
    ++bank.buffered;
    leave_all(index);
  }
  bank.writes.push_back({now_, packet.core, index, drained});
  serve(packet.bank);
}

void DramSimulation::serve(int index) {
  Bank& bank = banks_.at(place(index));
  const bool can_read = !bank.reads.empty() && bank.unsent < kUnsentOfABank;
  if (bank.busy || (!can_read && bank.writes.empty())) return;
  const bool reads =
      can_read && (bank.writes.empty() || bank.reads.front().since <= bank.writes.front().since);
  const Time busy = kBankPage + (bank.wrote_last == reads ? kTurn : 0);
  bank.busy = true;
  bank.wrote_last = !reads;
  at(now_ + busy, [this, index] {
    banks_.at(place(index)).busy = false;
    serve(index);
  });
  if (reads) {
    serve_read(index);
  } else {
    serve_write(index);
  }
}

void DramSimulation::serve_read(int index) {
  Bank& bank = banks_.at(place(index));
  const int core = bank.reads.front().core;
  bank.reads.pop_front();
  ++bank.unsent;
  at(now_ + kReadLatency, [this, index, core] {
    const auto [x, y] = kBankPlaces.at(place(index));
    packets_.push_back({.links = route(0, {x, y}, cores_[place(core)].place),
                        .length = kBankPage,
                        .bank = index,
                        .core = core,
                        .is_read = true});
    ask_for_link(static_cast<int>(packets_.size()) - 1);
  });
}

void DramSimulation::serve_write(int index) {
  Bank& bank = banks_.at(place(index));
  const Waiting write = bank.writes.front();
  bank.writes.pop_front();
  if (write.drained) {
    --bank.buffered;
    const auto next = std::ranges::find(bank.writes, false, &Waiting::drained);
    if (next != bank.writes.end()) {
      next->drained = true;
      ++bank.buffered;
      leave_all(next->packet);
    }
  } else {
    leave_all(write.packet);
  }
  const auto [x, y] = kBankPlaces.at(place(index));
  const auto hops = static_cast<Time>(route(1, {x, y}, cores_[place(write.core)].place).size());
  at(now_ + kBankPage + kAcknowledge + kEnds + kHop * hops, [this, core = write.core] {
    cores_[place(core)].writing = false;
    ++cores_[place(core)].written;
    move_on(core);
  });
}

}  // namespace howard::chip
