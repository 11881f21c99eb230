// SPDX-License-Identifier: Apache-2.0
#include "engines/host/processor_cores.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
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

void stay_on(int cpu) {
  thread_local int bound = -1;
  if (bound == cpu) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(cpu), &one);
  if (pthread_setaffinity_np(pthread_self(), sizeof(one), &one) == 0) bound = cpu;
}

}  // namespace howard::host
