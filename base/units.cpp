// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <limits>

#include "base/check.h"
#include "base/error.h"
#include "base/wide.h"

namespace howard {
namespace {

constexpr std::int64_t kPicosecondsPerSecond = 1'000'000'000'000;

}  // namespace

void throw_time_overflow() {
  throw Error({.attempted = "compute a virtual time",
               .value = "the result is beyond 106 days",
               .accepted = "times that fit 64 bits of picoseconds",
               .hint = "a profile whose rates and costs are nearer to the hardware's"});
}

SimTime transfer_time(Bytes amount, Bandwidth rate) {
  HOWARD_CHECK(rate.value() > 0, "a rate is positive");
  const Wide numerator = static_cast<Wide>(amount.value()) * kPicosecondsPerSecond;
  const Wide ps = (numerator + rate.value() - 1) / rate.value();
  if (ps > std::numeric_limits<std::int64_t>::max()) throw_time_overflow();
  return SimTime::picoseconds(static_cast<std::int64_t>(ps));
}

}  // namespace howard
