// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace howard::cli {

/// Represents the processes of this run: one, or as many as mpirun or srun has started. The first
/// one hands out work, prints and writes; the others run what they are given and say nothing.
///
/// One thread uses it. A rank that has nothing to do sleeps and leaves its core to the others.
class Ranks {
 public:
  /// Joins the other processes. Throws Error if there are others and this build has no MPI, or if
  /// they cannot see each other.
  Ranks();
  /// Waits until the first rank is done.
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int size() const;
  bool is_first() const;

  /// Returns the cores for each rank of this machine, at least one: the cores that any of the ranks
  /// may use, divided by the number of ranks, and no more than this rank may use.
  int cores() const;

  /// Each rank calls this once. `ready` says whether it is ready, and `plan` what it is about to
  /// do. Returns the lowest rank that is not ready; absent if all are. Plans that differ are an
  /// Error on the first rank, which the others then count as not ready.
  std::optional<int> agree(bool ready, std::string_view plan);
  /// Returns this rank's number, and whether it has called agree() already.
  int rank() const;
  bool has_agreed() const;

  struct Message {
    int from = 0;
    std::string text;
  };
  /// `topic` is a number from 0 on. A rank can use it to leave early messages of others for later.
  void send(int to, int topic, std::string_view text);
  /// Returns the next message about `topic`; absent once the first rank is done.
  std::optional<Message> receive(int topic);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace howard::cli
