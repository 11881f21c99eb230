// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace howard::cli {

/// The processes of this run: one, or as many as mpirun or srun has started. The first one hands
/// out work, prints and writes; the others run what they are given and say nothing.
///
/// One thread uses it. Waiting sleeps: a rank that has nothing to do leaves its core to the others.
class Ranks {
 public:
  /// Joins the others. Error when there are others and this build has no MPI, or they can not see
  /// each other.
  Ranks();
  /// Waits until the first rank is done.
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int size() const;
  bool is_first() const;

  /// Cores for each rank of this machine, at least one: those that any of them may use, divided by
  /// their number, and no more than this one may use.
  int cores() const;

  /// Each rank says once whether it is ready, with a text of what it is about to do. Returns the
  /// lowest rank that is not ready; absent when all are. Plans that differ are an Error on the
  /// first rank, which the others take for one that is not ready.
  std::optional<int> agree(bool ready, std::string_view plan);
  /// This rank's number, and whether it has said so already.
  int rank() const;
  bool has_agreed() const;

  struct Message {
    int from = 0;
    std::string text;
  };
  /// `topic`: a number from 0 on, by which a rank can leave early messages of others for later.
  void send(int to, int topic, std::string_view text);
  /// The next message about `topic`; absent once the first rank is done.
  std::optional<Message> receive(int topic);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace howard::cli
