// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <vector>

namespace howard::host {

/// Returns a CPU, as the system numbers them, for each of `threads`. Returns nothing unless these
/// are as many as the machine has CPUs and the process may use all of them. CPUs of different
/// physical cores come first.
std::vector<int> cores_of_machine(int threads);

/// The CPU that the thread which made it works on, and no other thread that has such an object: all
/// pools of the process share the CPUs. There is none if there is none to choose from, or if all
/// are taken.
///
/// Two threads of a pool that come to lie on one CPU stay there for milliseconds, and the product
/// that they share takes twice as long. The threads are not bound, because TBB lends them to others
/// and the caller may start processes, which would be bound too. So a thread must ask again from
/// time to time.
class OwnCore {
 public:
  /// `cpus` are the CPUs to choose from, as cores_of_machine() returns them. They must outlive the
  /// object.
  explicit OwnCore(const std::vector<int>& cpus) : cpus_(cpus) {}
  /// Lets other threads have the CPU.
  ~OwnCore() { give_back(); }
  OwnCore(const OwnCore&) = delete;
  OwnCore& operator=(const OwnCore&) = delete;

  /// Moves the thread if it is on a CPU that another one has. This takes 3 ns if the system has not
  /// moved it since the last call, and 30 us for a move. (To bind it for each command would take
  /// 5 us a command; all on Zen 4 in a virtual machine.)
  void keep() {
    if (!cpus_.empty() && sched_getcpu() != cpu_) settle();
  }

 private:
  void settle();
  void give_back();

  const std::vector<int>& cpus_;
  int cpu_ = -1;
};

}  // namespace howard::host
