// SPDX-License-Identifier: Apache-2.0
#include "engines/mesh/thread_ranks.h"

#include <fmt/format.h>

#include <compare>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace howard::mesh {
namespace {

/// Says on which way a message is.
struct MessageWay {
  int from = 0, to = 0, channel = 0;

  friend auto operator<=>(const MessageWay&, const MessageWay&) = default;
};

/// Keeps the messages between the threads.
class PostOffice {
 public:
  void send(const MessageWay& way, std::span<const std::byte> message) {
    const std::lock_guard lock(mutex_);
    waiting_[way].emplace_back(message.begin(), message.end());
    arrived_.notify_all();
  }

  std::vector<std::byte> receive(const MessageWay& way) {
    std::unique_lock lock(mutex_);
    std::deque<std::vector<std::byte>>& messages = waiting_[way];
    arrived_.wait(lock, [&] { return !messages.empty() || failed_ >= 0; });
    if (messages.empty()) {
      throw Error({.attempted = fmt::format("receive from rank {} on rank {}", way.from, way.to),
                   .value = fmt::format("rank {} has ended with an error", failed_),
                   .accepted = "ranks that all go on"});
    }
    std::vector<std::byte> message = std::move(messages.front());
    messages.pop_front();
    return message;
  }

  /// Keeps only the first failure: the others follow from it.
  void fail(int rank, std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (failed_ >= 0) return;
    failed_ = rank;
    failure_ = std::move(failure);
    arrived_.notify_all();
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<MessageWay, std::deque<std::vector<std::byte>>> waiting_;
  int failed_ = -1;
  std::exception_ptr failure_;
};

class ThreadRank final : public Communicator {
 public:
  ThreadRank(PostOffice& office, int rank, int size) : office_(office), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

 private:
  void do_send(int to, std::span<const std::byte> message, int channel) override {
    office_.send({rank_, to, channel}, message);
  }
  std::vector<std::byte> do_receive(int from, int channel) override {
    return office_.receive({from, rank_, channel});
  }

  PostOffice& office_;
  int rank_, size_;
};

}  // namespace

void run_as_threads(int size, const std::function<void(Communicator& ranks)>& work) {
  HOWARD_CHECK(size >= 1, "at least one rank works");
  PostOffice office;
  const auto run = [&](int rank) {
    ThreadRank ranks(office, rank, size);
    try {
      work(ranks);
    } catch (...) {
      office.fail(rank, std::current_exception());
    }
  };
  {
    std::vector<std::jthread> others;
    others.reserve(static_cast<std::size_t>(size - 1));
    for (int rank = 1; rank < size; ++rank) others.emplace_back(run, rank);
    run(0);
  }
  office.rethrow();
}

}  // namespace howard::mesh
