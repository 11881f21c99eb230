// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/gate_suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/statistics.h"

namespace howard::tracking {
namespace {

/// Keeps the compiler from leaving work out whose result nobody reads.
void use(double value) { asm volatile("" : : "g"(value) : "memory"); }

struct Kernel {
  std::string_view name;
  std::function<double(std::vector<double>&)> call;
};

double sum(std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double scale(std::vector<double>& values) {
  for (double& value : values) value = value * 1.0000001 + 1e-9;
  return values.front();
}

double copy(std::vector<double>& values) {
  const std::vector<double> other = values;
  return other.back();
}

double roots(std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += std::sqrt(value);
  return total;
}

double exponentials(std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += std::exp(-value);
  return total;
}

double strided(std::vector<double>& values) {
  constexpr std::size_t kStride = 17;
  double total = 0;
  for (std::size_t i = 0, at = 0; i < values.size(); ++i, at = (at + kStride) % values.size()) {
    total += values[at];
  }
  return total;
}

double branches(std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value > 0.5 ? value : -1;
  return total;
}

double sorting(std::vector<double>& values) {
  std::vector<double> other = values;
  std::ranges::sort(other);
  return other[other.size() / 2];
}

double hashing(std::vector<double>& values) {
  std::unordered_map<std::uint64_t, double> table;
  for (const double value : values) table[static_cast<std::uint64_t>(value * 64)] += value;
  return static_cast<double>(table.size());
}

double printing(std::vector<double>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); i += 16) text += fmt::format("{:.6g},", values[i]);
  return static_cast<double>(text.size());
}

/// Returns the median seconds of a call over some repetitions of `calls` calls. A slower kernel
/// makes more calls in the time of as many.
double time_of(const Kernel& kernel, std::vector<double>& values, std::size_t calls,
               double slowdown) {
  constexpr std::size_t kRepetitions = 5;
  const auto all =
      static_cast<std::size_t>(std::lround(static_cast<double>(calls) * (1 + slowdown)));
  std::vector<double> seconds;
  for (std::size_t repetition = 0; repetition <= kRepetitions; ++repetition) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t call = 0; call < all; ++call) use(kernel.call(values));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    // The first one warms up.
    if (repetition > 0) seconds.push_back(took.count() / static_cast<double>(calls));
  }
  return *harness::median(seconds);
}

constexpr std::size_t kEvery = 10;

}  // namespace

Run run_gate_suite(double slowdown) {
  const std::array<Kernel, 10> kernels{{{"sum", sum},
                                        {"scale", scale},
                                        {"copy", copy},
                                        {"roots", roots},
                                        {"exponentials", exponentials},
                                        {"strided", strided},
                                        {"branches", branches},
                                        {"sorting", sorting},
                                        {"hashing", hashing},
                                        {"printing", printing}}};
  constexpr std::array<std::size_t, 3> kSizes{256, 512, 1024};
  constexpr std::size_t kCalls = 100;  // so that a hundredth more is one call more
  Run run;
  run.conditions.tool = "gate suite";
  std::mt19937_64 random(1);
  for (const std::size_t size : kSizes) {
    std::vector<double> values(size);
    for (double& value : values) value = static_cast<double>(random() >> 11) * 0x1p-53;
    for (const Kernel& kernel : kernels) {
      const bool slowed = run.rows.size() % kEvery == 0;
      const double seconds = time_of(kernel, values, kCalls, slowed ? slowdown : 0);
      run.rows.push_back(
          {.series = {fmt::format("{}/{}{}", kernel.name, size, slowed ? "/slowed" : ""), "time",
                      "s", harness::Better::lower, Kind::sampled},
           .value = seconds});
    }
  }
  return run;
}

bool is_slowed(const Series& series) { return series.benchmark.ends_with("/slowed"); }

}  // namespace howard::tracking
