// SPDX-License-Identifier: Apache-2.0
//
// Compares training steps of the report's MLP on the host: the engines, the fused trace and a step
// written by hand on oneDNN. All have float32 parameters, and products of bfloat16 or float32.
//
//   howard_step_benchmark [rounds [threads [batch/width [bf16|fp32 [contestant,...]]]]]
//
// A round runs each contestant for about 60 ms, in a changing order. Ratios are medians of the
// ratios within a round. On a machine that others use, compare with one thread, and use the time on
// the cores.

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
#include "engines/autograd/optimizers/sgd.h"
#include "engines/autograd/steps/static_step.h"
#include "engines/autograd/steps/traced_step.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/host/host_device.h"
#include "engines/models/benchmarks/onednn_mlp.h"
#include "engines/models/mlp.h"

namespace {

using namespace howard;
using Clock = std::chrono::steady_clock;

struct Problem {
  std::int64_t batch = 0, width = 0;
  DataType compute{};

  std::string text() const {
    return fmt::format("{}/{} {}", batch, width, compute == DataType::float32 ? "fp32" : "bf16");
  }
};

/// A model with everything that trains it, on a device of its own.
struct Training {
  Training(const Problem& problem, int threads, bool fuse)
      : device({.threads = threads, .fuse_traces = fuse}),
        model(device, {.batch = problem.batch,
                       .width = problem.width,
                       .parameters = DataType::float32,
                       .compute = problem.compute}),
        function(autograd::training_step(
            [this](autograd::Tape& tape, int) {
              return model.loss(tape, models::MlpFunctions::by_layer);
            },
            sgd, {.tape = {.compute = problem.compute}})) {
    model.write_constants(device.command_queue(0));
  }

  host::HostDevice device;
  models::Mlp model;
  autograd::Sgd sgd{model.parameters(), 0.01F};
  autograd::StepFunction function;
  std::unique_ptr<autograd::StaticStep> recorded;
  std::unique_ptr<autograd::TracedStep> traced;
};

/// Holds the milliseconds of a step, on the clock and summed over the threads on the cores.
struct Times {
  std::vector<double> wall, cpu;  ///< one entry for each round
};

struct Contestant {
  std::string name;
  std::function<void(int steps)> run;
  Times times;
};

std::vector<Contestant> contestants(const Problem& problem, int threads) {
  std::vector<Contestant> all;
  enum class Engine { dynamic, static_step, traced };
  const auto add = [&](const char* name, Engine engine, bool fuse) {
    const auto training = std::make_shared<Training>(problem, threads, fuse);
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
                       if (engine == Engine::static_step) training->recorded->run();
                       if (engine == Engine::traced) training->traced->run();
                     }
                     training->device.command_queue(0).finish();
                   },
                   {}});
  };
  add("traced_fused", Engine::traced, true);
  add("traced", Engine::traced, false);
  add("static", Engine::static_step, false);
  add("dynamic", Engine::dynamic, false);
  const auto add_peer = [&](const char* name, DataType products) {
    const auto peer = std::make_shared<benchmarks::OnednnMlp>(benchmarks::OnednnMlpOptions{
        problem.batch, problem.width, 0.01F, threads, problem.compute, products});
    all.push_back({name,
                   [peer](int steps) {
                     for (int i = 0; i < steps; ++i) peer->step();
                   },
                   {}});
  };
  add_peer("onednn", problem.compute);
  if (problem.compute == DataType::bfloat16) add_peer("onednn_widened", DataType::float32);
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

/// `only` lists the contestants to run, separated by commas; if it is empty, all run.
void compare(const Problem& problem, int rounds, int threads, const std::string& only) {
  std::vector<Contestant> all = contestants(problem, threads);
  if (!only.empty()) {
    std::erase_if(all, [list = "," + only + ","](const Contestant& one) {
      return list.find("," + one.name + ",") == std::string::npos;
    });
  }
  if (all.empty()) return;
  for (Contestant& one : all) one.run(2);
  Contestant probe{"probe", all[0].run, {}};
  time_steps(probe, 2);
  const int steps = std::clamp(static_cast<int>(60 / probe.times.wall[0]), 1, 1000);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      Contestant& one = all[(i + static_cast<std::size_t>(round)) % all.size()];
      // OpenMP's threads keep looking for work for tens of milliseconds.
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      one.run(1);
      time_steps(one, steps);
    }
  }
  const Times& own = all[0].times;
  for (const auto& [name, run, times] : all) {
    fmt::print("{:>14} {:<15} {:9.4f} ms, {:.3f} of {}; on the cores {:9.4f} ms, {:.3f}\n",
               problem.text(), name, median(times.wall), median_ratio(times.wall, own.wall),
               all[0].name, median(times.cpu), median_ratio(times.cpu, own.cpu));
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i) { return argc > i ? std::string(argv[i]) : std::string(); };
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;
  const int threads = howard::host::thread_count({.threads = argc > 2 ? std::atoi(argv[2]) : 0});
  std::vector<std::pair<std::int64_t, std::int64_t>> shapes{
      {256, 256}, {1024, 512}, {256, 2048}, {2048, 2048}, {4096, 2048}};
  if (argc > 3) {
    const std::string shape = argument(3);
    shapes = {{std::atoi(shape.c_str()), std::atoi(shape.substr(shape.find('/') + 1).c_str())}};
  }
  for (const DataType compute : {DataType::bfloat16, DataType::float32}) {
    for (const auto& [batch, width] : shapes) {
      const Problem problem{batch, width, compute};
      if (argc > 4 && !problem.text().ends_with(argument(4))) continue;
      const bool large = batch * width >= std::int64_t{2048} * 2048;
      compare(problem, large ? std::max(1, rounds / 3) : rounds, threads, argument(5));
    }
  }
  return 0;
}
