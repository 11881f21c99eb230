// SPDX-License-Identifier: Apache-2.0
#include "experiments/laboratory/devbox.h"

#include <utility>

#include "base/check.h"

namespace howard::experiments {

DevBox::DevBox(const chip::Profiles& profiles, const host::HostOptions& host, std::uint64_t seed,
               MemorySink* chip_memory, std::function<bool()> stop)
    : profiles_(profiles),
      host_options_(host),
      seed_(seed),
      chip_memory_(chip_memory),
      stop_(std::move(stop)) {}

DevBox::DevBox(const chip::ProfileConstants& constants, const host::HostOptions& host,
               std::uint64_t seed, MemorySink* chip_memory, std::function<bool()> stop)
    : DevBox(chip::read_profiles(constants), host, seed, chip_memory, std::move(stop)) {
  constants_ = constants;
}

const chip::ProfileConstants& DevBox::constants() const {
  HOWARD_CHECK(constants_.has_value(), "the box was made of constants");
  return *constants_;
}

std::shared_ptr<const DevBox> DevBox::with(const chip::Profiles& profiles) const {
  return listening(std::make_shared<DevBox>(profiles, host_options_, seed_, chip_memory_, stop_));
}

std::shared_ptr<const DevBox> DevBox::with(const chip::ProfileConstants& constants) const {
  return listening(std::make_shared<DevBox>(constants, host_options_, seed_, chip_memory_, stop_));
}

std::shared_ptr<const DevBox> DevBox::tuned(std::shared_ptr<const chip::TunedCalls> tuned,
                                            chip::CallSink* calls) const {
  const auto box =
      constants_ ? std::make_shared<DevBox>(*constants_, host_options_, seed_, chip_memory_, stop_)
                 : std::make_shared<DevBox>(profiles_, host_options_, seed_, chip_memory_, stop_);
  box->tuned_ = std::move(tuned);
  box->calls_ = calls;
  return box;
}

std::shared_ptr<const DevBox> DevBox::listening(std::shared_ptr<DevBox> box) const {
  box->tuned_ = tuned_;
  box->calls_ = calls_;
  return box;
}

std::unique_ptr<chip::EmulatedChip> DevBox::open_chip(chip::DeviceOptions options) const {
  options.memory = chip_memory_;
  options.tuned = tuned_;
  options.calls = calls_;
  return std::make_unique<chip::EmulatedChip>(profiles_, options);
}

std::shared_ptr<host::HostDevice> DevBox::host(bool fuses_traces) const {
  Host& own = fuses_traces ? fusing_host_ : plain_host_;
  std::call_once(own.opened, [&] {
    host::HostOptions options = host_options_;
    options.fuse_traces = fuses_traces;
    own.device = std::make_shared<host::HostDevice>(options);
  });
  return own.device;
}

}  // namespace howard::experiments
