// SPDX-License-Identifier: Apache-2.0
#include "engines/host/processor_cores.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <fstream>
#include <string>

namespace howard::host {
namespace {

/// Returns whether `cpu` is the first of the CPUs that share its physical core; if the system does
/// not say, it is. The file holds "0,4" or "0-1".
bool is_first_of_core(int cpu) {
  std::ifstream siblings("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                         "/topology/thread_siblings_list");
  int first = cpu;
  siblings >> first;
  return first == cpu;
}

/// Says whether an OwnCore of this process has a CPU.
std::atomic<bool>& taken(int cpu) {
  static std::array<std::atomic<bool>, CPU_SETSIZE> flags{};
  return flags.at(static_cast<std::size_t>(cpu));
}

bool take_if_free(int cpu) { return !taken(cpu).load() && !taken(cpu).exchange(true); }

/// Moves the calling thread to `cpu` if its user lets it be there, and leaves it free to move on.
void move_to(int cpu) {
  const pthread_t self = pthread_self();
  cpu_set_t allowed;
  if (pthread_getaffinity_np(self, sizeof(allowed), &allowed) != 0) return;
  if (!CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(cpu), &one);
  if (pthread_setaffinity_np(self, sizeof(one), &one) != 0) return;
  pthread_setaffinity_np(self, sizeof(allowed), &allowed);
}

}  // namespace

std::vector<int> cores_of_machine(int threads) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return {};
  if (threads != CPU_COUNT(&allowed) || threads != sysconf(_SC_NPROCESSORS_CONF)) return {};
  std::vector<int> cpus;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(static_cast<int>(cpu));
  }
  std::ranges::stable_partition(cpus, is_first_of_core);
  return cpus;
}

void OwnCore::settle() {
  give_back();
  const int here = sched_getcpu();
  if (take_if_free(here)) {
    cpu_ = here;
    return;
  }
  const auto free = std::ranges::find_if(cpus_, take_if_free);
  if (free == cpus_.end()) return;
  cpu_ = *free;
  move_to(cpu_);
}

void OwnCore::give_back() {
  if (cpu_ >= 0) taken(cpu_) = false;
  cpu_ = -1;
}

}  // namespace howard::host
