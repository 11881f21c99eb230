// SPDX-License-Identifier: Apache-2.0
#include "experiments/devbox.h"

namespace howard::experiments {

DevBox::DevBox(const wormhole::Profiles& profiles, const host::HostOptions& host,
               std::uint64_t seed, MemorySink* chip_memory)
    : profiles_(profiles), host_options_(host), seed_(seed), chip_memory_(chip_memory) {}

std::unique_ptr<wormhole::WormholeDevice> DevBox::open_wormhole(
    wormhole::DeviceOptions options) const {
  options.memory = chip_memory_;
  return std::make_unique<wormhole::WormholeDevice>(profiles_, options);
}

std::shared_ptr<host::HostDevice> DevBox::host() const {
  std::call_once(host_opened_, [&] { host_ = std::make_shared<host::HostDevice>(host_options_); });
  return host_;
}

}  // namespace howard::experiments
