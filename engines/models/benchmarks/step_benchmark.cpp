// SPDX-License-Identifier: Apache-2.0
//
// Training steps of the report's MLP on the host: the engines, the fused trace and a step written
// by hand on oneDNN, in turn. All with bfloat16 products and float32 parameters.
//
//   howard_step_benchmark [rounds [threads]]
//
// A round runs each for about 60 ms, in an order that changes; ratios are medians of those within a
// round. On a machine that others use, one thread and the time on the cores say what work is done.

#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engines/autograd/host_values.h"
#include "engines/autograd/sgd.h"
#include "engines/autograd/static_step.h"
#include "engines/autograd/traced_step.h"
#include "engines/autograd/training_step.h"
#include "engines/host/host_device.h"
#include "engines/models/benchmarks/onednn_mlp.h"
#include "engines/models/mlp.h"

namespace {

using namespace howard;
using Clock = std::chrono::steady_clock;

/// A model with what trains it, on a device of its own.
struct Training {
  Training(std::int64_t batch, std::int64_t width, int threads, bool fuse)
      : device({.threads = threads, .fuse_traces = fuse}),
        model(device, {.batch = batch, .width = width, .parameters = DataType::float32}),
        function(autograd::training_step(
            [this](autograd::Tape& tape, int) {
              return model.loss(tape, models::MlpFunctions::by_layer);
            },
            sgd)) {
    model.write_constants(device.command_queue(0));
  }

  host::HostDevice device;
  models::Mlp model;
  autograd::Sgd sgd{model.parameters(), 0.01F};
  autograd::StepFunction function;
  std::unique_ptr<autograd::StaticStep> recorded;
  std::unique_ptr<autograd::TracedStep> traced;
};

/// In milliseconds, of a step: on the clock, and of all threads together on the cores.
struct Times {
  std::vector<double> wall, cpu;  ///< One a round.
};

struct Contestant {
  std::string name;
  std::function<void(int steps)> run;
  Times times;
};

std::vector<Contestant> contestants(std::int64_t batch, std::int64_t width, int threads) {
  std::vector<Contestant> all;
  enum class Engine { dynamic, recorded, traced };
  const auto add = [&](const char* name, Engine engine, bool fuse) {
    const auto training = std::make_shared<Training>(batch, width, threads, fuse);
    Training& own = *training;
    if (engine != Engine::dynamic) {
      own.recorded = std::make_unique<autograd::StaticStep>(own.device, own.function);
    }
    if (engine == Engine::traced) {
      own.traced = std::make_unique<autograd::TracedStep>(own.device, *own.recorded);
    }
    all.push_back({name,
                   [training, engine](int steps) {
                     for (int i = 0; i < steps; ++i) {
                       if (engine == Engine::dynamic) training->function(training->device);
                       if (engine == Engine::recorded) training->recorded->run();
                       if (engine == Engine::traced) training->traced->run();
                     }
                     training->device.command_queue(0).finish();
                   },
                   {}});
  };
  add("traced_fused", Engine::traced, true);
  add("traced", Engine::traced, false);
  add("static", Engine::recorded, false);
  add("dynamic", Engine::dynamic, false);
  const auto peer = std::make_shared<benchmarks::OnednnMlp>(batch, width, 0.01F, threads);
  all.push_back({"onednn",
                 [peer](int steps) {
                   for (int i = 0; i < steps; ++i) peer->step();
                 },
                 {}});
  return all;
}

double cpu_milliseconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

void time_steps(Contestant& one, int steps) {
  const double cpu = cpu_milliseconds();
  const auto start = Clock::now();
  one.run(steps);
  const std::chrono::duration<double, std::milli> wall = Clock::now() - start;
  one.times.wall.push_back(wall.count() / steps);
  one.times.cpu.push_back((cpu_milliseconds() - cpu) / steps);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

double median_ratio(const std::vector<double>& times, const std::vector<double>& to) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < times.size(); ++i) ratios.push_back(times[i] / to[i]);
  return median(ratios);
}

void compare(std::int64_t batch, std::int64_t width, int rounds, int threads) {
  std::vector<Contestant> all = contestants(batch, width, threads);
  for (Contestant& one : all) one.run(2);
  Contestant probe{"probe", all[0].run, {}};
  time_steps(probe, 2);
  const int steps = std::clamp(static_cast<int>(60 / probe.times.wall[0]), 1, 1000);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      Contestant& one = all[(i + static_cast<std::size_t>(round)) % all.size()];
      // OpenMP's threads look for work for some milliseconds after their last.
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      one.run(1);
      time_steps(one, steps);
    }
  }
  const Times& own = all[0].times;
  for (const auto& [name, run, times] : all) {
    fmt::print(
        "{:>5}/{:<5} {:<13} {:9.3f} ms, {:.3f} of traced_fused; on the cores {:9.3f} ms, {:.3f}\n",
        batch, width, name, median(times.wall), median_ratio(times.wall, own.wall),
        median(times.cpu), median_ratio(times.cpu, own.cpu));
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;
  const int threads = howard::host::thread_count({.threads = argc > 2 ? std::atoi(argv[2]) : 0});
  compare(256, 256, rounds, threads);
  compare(1024, 512, rounds, threads);
  compare(2048, 2048, std::max(1, rounds / 3), threads);
  return 0;
}
