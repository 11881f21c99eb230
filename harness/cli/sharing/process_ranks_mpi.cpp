// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <limits>
#include <list>
#include <thread>
#include <vector>

#include "base/error.h"
#include "harness/cli/command/program.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/sharing/process_ranks.h"

namespace howard::cli {
namespace {

/// The tag of channel 0; the others follow. Messages of one tag keep their order.
constexpr int kFirstTag = 1;

class MpiRank final : public mesh::Communicator {
 public:
  MpiRank() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiRank() override {
    for (Sending& one : sending_) MPI_Wait(&one.request, MPI_STATUS_IGNORE);
  }
  MpiRank(const MpiRank&) = delete;
  MpiRank& operator=(const MpiRank&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }

 private:
  /// Holds a message on its way; its bytes stay until it has arrived.
  struct Sending {
    std::vector<std::byte> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void do_send(int to, std::span<const std::byte> message, int channel) override {
    constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int>::max());
    if (message.size() > kMost) {
      throw Error({.attempted = fmt::format("send a tensor to rank {}", to),
                   .value = fmt::format("{} bytes", message.size()),
                   .accepted = fmt::format("{} at most", kMost)});
    }
    sending_.remove_if([](Sending& one) {
      int arrived = 0;
      MPI_Test(&one.request, &arrived, MPI_STATUS_IGNORE);
      return arrived != 0;
    });
    Sending& one = sending_.emplace_back();
    one.bytes.assign(message.begin(), message.end());
    MPI_Isend(one.bytes.data(), static_cast<int>(one.bytes.size()), MPI_BYTE, to,
              kFirstTag + channel, MPI_COMM_WORLD, &one.request);
  }

  std::vector<std::byte> do_receive(int from, int channel) override {
    const int tag = kFirstTag + channel;
    MPI_Status status;
    // MPI_Probe would spin on the core of a rank that computes.
    std::chrono::microseconds pause{20};
    constexpr std::chrono::microseconds kLongest{2000};
    for (int found = 0;;) {
      MPI_Iprobe(from, tag, MPI_COMM_WORLD, &found, &status);
      if (found != 0) break;
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kLongest);
    }
    int length = 0;
    MPI_Get_count(&status, MPI_BYTE, &length);
    std::vector<std::byte> message(static_cast<std::size_t>(length));
    MPI_Recv(message.data(), length, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return message;
  }

  int rank_ = 0;
  int size_ = 1;
  std::list<Sending> sending_;
};

}  // namespace

void run_as_processes(int size, const std::function<void(mesh::Communicator& ranks)>& work) {
  int started = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &started);
  if (started != size) {
    throw Error({.attempted = "train on several devices",
                 .value = fmt::format("{} processes for {} devices", started, size),
                 .accepted = fmt::format("a process for each device, {}, or one for all", size),
                 .hint = fmt::format("mpirun -n {}", size)});
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    MpiRank ranks;
    work(ranks);
    mesh::wait_for_all(ranks);
  } catch (const std::exception& failure) {
    // The others wait for messages that will not come.
    complain("rank {}: {}", rank, failure.what());
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, kFailed);
  }
}

}  // namespace howard::cli
