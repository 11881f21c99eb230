// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <vector>

namespace howard::chip {

/// A kernel whose cores read, compute and write tile by tile over the 12 banks of a Wormhole's
/// DRAM, as packets on both NoCs: what the closed form of dram_banks.h is held to.
///
/// Mechanisms: page i lies in bank i mod 12, and a bank serves one page at a time in the order of
/// arrival. Reads go over NoC 0, +x then +y, writes over NoC 1, -y then -x, on a torus of 10x12. A
/// packet keeps a virtual channel of each link until its tail has passed; read responses have a few
/// channels, tt-metal's writes one. A router holds a quarter of a page of 2 KB, so a page that
/// waits keeps four links, and stops pages for idle banks. Times are cycles.
class DramSimulation {
 public:
  /// `tiles` dealt out over `cores` of 8 columns, each made of a page of each of `inputs` tensors.
  DramSimulation(int tiles, int inputs, int cores);

  /// From the first core's start to the last acknowledged write. `skew`: the last core's start.
  std::int64_t run(std::int64_t start, std::int64_t skew, std::int64_t compute);

 private:
  using Time = std::int64_t;
  static constexpr int kBanks = 12;

  struct Place {
    int x = 0, y = 0;
  };
  struct Core {
    Place place;
    int first_page = 0, tiles = 0;
    int read = 0, made = 0, written = 0;
    int missing = 0;  ///< Pages of the tile that is being read.
    bool reading = false, making = false, writing = false;
  };
  struct Packet {
    std::vector<int> links{};
    Time length = 0;  ///< Of its passage over a link.
    int bank = 0, core = 0;
    bool is_read = false;
    std::vector<Time> heads{};  ///< When its head came to each link so far.
  };
  struct Waiting {
    Time since = 0;
    int core = 0;
    int packet = -1;  ///< Of a write.
    bool drained = false;
  };
  struct Bank {
    std::deque<Waiting> reads, writes;
    bool busy = false, wrote_last = false;
    int unsent = 0;    ///< Pages that were read and wait for a link.
    int buffered = 0;  ///< Writes that have left the network.
  };
  struct Event {
    Time time = 0;
    std::uint64_t sequence = 0;
    std::function<void()> action;
    bool operator>(const Event& other) const {
      return time != other.time ? time > other.time : sequence > other.sequence;
    }
  };

  static int link_of(int noc, int axis, Place at, bool past_date_line);
  static std::vector<int> route(int noc, Place from, Place to);

  void at(Time time, std::function<void()> action);
  void move_on(int core);
  void start_read(int core);
  void start_write(int core);
  void ask_for_link(int packet);
  void enter_link(int packet, int link);
  void leave_link(int packet, std::size_t place, bool at_end);
  void leave_all(int packet);
  void free_link(int link);
  void arrive(int packet);
  void serve(int bank);
  void serve_read(int bank);
  void serve_write(int bank);

  int inputs_;
  Time compute_ = 0, now_ = 0;
  std::vector<Core> cores_;
  std::vector<Packet> packets_;
  std::array<Bank, kBanks> banks_;
  std::map<int, int> in_use_;
  std::map<int, std::deque<int>> waiting_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t sequence_ = 0;
};

}  // namespace howard::chip
