// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "base/check.h"
#include "base/error.h"
#include "harness/cli/sharing/launched_processes.h"
#include "harness/cli/sharing/ranks.h"

namespace howard::cli {
namespace {

constexpr int kDone = 0;        // tag of the first rank's last message
constexpr int kFirstTopic = 1;  // tag of messages about topic 0

/// Returns the cores that this process may use.
cpu_set_t own_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  HOWARD_CHECK(sched_getaffinity(0, sizeof cores, &cores) == 0, "a process has cores");
  return cores;
}

/// Returns what Ranks::cores() says. All ranks must call it.
int share_of_cores() {
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  int ranks = 1;
  MPI_Comm_size(machine, &ranks);
  const cpu_set_t own = own_cores();
  cpu_set_t all;
  MPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, machine);
  MPI_Comm_free(&machine);
  return std::max(1, std::min(CPU_COUNT(&own), CPU_COUNT(&all) / ranks));
}

}  // namespace

class Ranks::Impl {
 public:
  Impl() {
    if (launched_processes() == 1) return;
    // One thread of each rank speaks; the others compute.
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    if (size_ == 1) {
      MPI_Finalize();
      throw Error({.attempted = "share a run",
                   .value = fmt::format("{} processes were started, and they do not see each "
                                        "other: each would run everything",
                                        launched_processes()),
                   .accepted = "processes of one MPI job",
                   .hint = "srun --mpi=pmix, or mpirun"});
    }
    joined_ = true;
    cores_ = share_of_cores();
  }

  ~Impl() {
    if (!joined_) return;
    if (rank_ == 0) {
      for (int to = 1; to < size_; ++to) send(to, "", kDone);
    } else {
      while (receive(MPI_ANY_TAG)) continue;
    }
    MPI_Finalize();
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  int size() const { return size_; }
  int rank() const { return rank_; }
  int cores() const { return cores_; }
  bool has_agreed() const { return agreed_; }

  std::optional<int> agree(bool ready, std::string_view plan) {
    agreed_ = true;
    if (size_ == 1) return ready ? std::nullopt : std::optional(0);
    const int mine = ready ? size_ : rank_;
    int lowest = size_;
    MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (lowest < size_) return lowest;
    const std::uint64_t hash = std::hash<std::string_view>()(plan);
    const std::array both{hash, ~hash};  // the largest ~hash belongs to the smallest hash
    std::array<std::uint64_t, 2> largest{};
    MPI_Allreduce(both.data(), largest.data(), 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (largest[0] == ~largest[1]) return std::nullopt;
    if (rank_ != 0) return 0;  // the first rank reports it
    throw Error({.attempted = "share a run",
                 .value = "the processes would not run the same",
                 .accepted = "the same program, profiles and arguments everywhere"});
  }

  static void send(int to, std::string_view text, int tag) {
    MPI_Send(text.data(), static_cast<int>(text.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD);
  }

  /// On the first rank, this receives from any other rank. On the others, it receives from the
  /// first rank, and also accepts kDone as the tag.
  std::optional<Message> receive(int tag) {
    if (done_) return std::nullopt;
    MPI_Status status;
    // MPI_Probe would spin on the core of a rank that computes.
    std::chrono::microseconds pause{20};
    constexpr std::chrono::microseconds kLongest{5000};
    for (int found = 0; found == 0;) {
      MPI_Iprobe(MPI_ANY_SOURCE, rank_ == 0 ? tag : MPI_ANY_TAG, MPI_COMM_WORLD, &found, &status);
      if (found != 0) break;
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kLongest);
    }
    int length = 0;
    MPI_Get_count(&status, MPI_BYTE, &length);
    Message message{.from = status.MPI_SOURCE, .text = {}};
    message.text.resize(static_cast<std::size_t>(length));
    MPI_Recv(message.text.data(), length, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    done_ = status.MPI_TAG == kDone;
    if (done_) return std::nullopt;
    return message;
  }

 private:
  int size_ = 1;
  int rank_ = 0;
  int cores_ = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  bool joined_ = false;
  bool agreed_ = false;
  bool done_ = false;
};

Ranks::Ranks() : impl_(std::make_unique<Impl>()) {}
Ranks::~Ranks() = default;

int Ranks::size() const { return impl_->size(); }
int Ranks::rank() const { return impl_->rank(); }
bool Ranks::is_first() const { return impl_->rank() == 0; }
bool Ranks::has_agreed() const { return impl_->has_agreed(); }
int Ranks::cores() const { return impl_->cores(); }
std::optional<int> Ranks::agree(bool ready, std::string_view plan) {
  return impl_->agree(ready, plan);
}
void Ranks::send(int to, int topic, std::string_view text) {
  impl_->send(to, text, kFirstTopic + topic);
}
std::optional<Ranks::Message> Ranks::receive(int topic) {
  return impl_->receive(kFirstTopic + topic);
}

}  // namespace howard::cli
