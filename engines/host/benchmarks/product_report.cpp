// SPDX-License-Identifier: Apache-2.0
// Prints as Markdown how fast this machine multiplies matrices: the host engine in the ways that it
// has measured to be fastest (ProductTuning) and in its fixed ways, and oneDNN with threads of its
// own. The runs of a row are interleaved; each cell is a median in GFLOP/s. The build target
// `host_report` prints this and then the training steps.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <dnnl.hpp>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "engines/host/host_device.h"
#include "engines/host/host_memory.h"
#include "engines/host/host_options.h"
#include "engines/host/products/onednn_part.h"

namespace {

using howard::DataType;
using ReportClock = std::chrono::steady_clock;

/// Makes every element of a factor 0.75, in either type.
constexpr char kByte = 0x3f;

struct ReportedProduct {
  std::int64_t m = 0, k = 0, n = 0;
  bool transpose_a = false, transpose_b = false;

  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
  }
};

/// The first products are squares. The next are what a step of an MLP with batch 1024 and width 512
/// multiplies: the forward product and the gradients of the input and of the weight. The last is of
/// GPT-2's feed-forward layer at batch 4.
constexpr std::array<ReportedProduct, 8> kProducts{{{512, 512, 512},
                                                    {1024, 1024, 1024},
                                                    {2048, 2048, 2048},
                                                    {4096, 4096, 4096},
                                                    {1024, 512, 512},
                                                    {1024, 512, 512, false, true},
                                                    {512, 1024, 512, true, false},
                                                    {1024, 384, 1536}}};

howard::TensorSpec stored(std::int64_t rows, std::int64_t columns, bool transposed, DataType type) {
  return {.shape = transposed ? howard::Shape{columns, rows} : howard::Shape{rows, columns},
          .dtype = type};
}

/// Returns a function that computes a product once on `device`.
std::function<void()> on_device(howard::Device& device, const ReportedProduct& product,
                                DataType type) {
  const auto operand = [&](const howard::TensorSpec& spec) {
    const howard::BufferId buffer = device.allocate(spec);
    const std::vector<std::byte> values(static_cast<std::size_t>(spec.host_bytes().value()),
                                        std::byte{kByte});
    device.command_queue(0).write_buffer(buffer, values);
    return howard::Operand{buffer, spec};
  };
  const howard::Program program{
      .name = "matmul",
      .attributes = howard::MatmulAttributes{.transpose_a = product.transpose_a,
                                             .transpose_b = product.transpose_b},
      .inputs = {operand(stored(product.m, product.k, product.transpose_a, type)),
                 operand(stored(product.k, product.n, product.transpose_b, type))},
      .outputs = {operand(stored(product.m, product.n, false, type))},
      .flops = {}};
  return [&device, program] {
    device.command_queue(0).enqueue(program);
    device.command_queue(0).finish();
  };
}

/// Returns a function that computes a product once by one primitive of oneDNN, or an empty one if
/// it has none for the type.
std::function<void()> by_onednn(const ReportedProduct& product, DataType type, int threads) {
  using dnnl::memory;
  const auto kind = type == DataType::float32 ? memory::data_type::f32 : memory::data_type::bf16;
  const auto describe = [&](std::int64_t rows, std::int64_t columns, bool transposed) {
    return memory::desc({rows, columns}, kind,
                        transposed ? memory::format_tag::ba : memory::format_tag::ab);
  };
  omp_set_num_threads(threads);
  try {
    const dnnl::matmul::primitive_desc description(
        dnnl::matmul::desc(describe(product.m, product.k, product.transpose_a),
                           describe(product.k, product.n, product.transpose_b),
                           describe(product.m, product.n, false)),
        howard::host::cpu_engine());
    const auto filled = [&](const memory::desc& of) {
      memory values(of, howard::host::cpu_engine());
      std::fill_n(static_cast<char*>(values.get_data_handle()), of.get_size(), kByte);
      return values;
    };
    const std::unordered_map<int, memory> arguments{
        {DNNL_ARG_SRC, filled(description.src_desc())},
        {DNNL_ARG_WEIGHTS, filled(description.weights_desc())},
        {DNNL_ARG_DST, filled(description.dst_desc())}};
    return [threads, arguments, primitive = dnnl::matmul(description)] {
      omp_set_num_threads(threads);
      dnnl::stream stream(howard::host::cpu_engine());
      primitive.execute(stream, arguments);
      stream.wait();
    };
  } catch (const dnnl::error&) {
    return {};
  }
}

/// Measures all of `runs` in turn and returns their median times in seconds; an empty one gives 0.
std::vector<double> medians(const std::vector<std::function<void()>>& runs, double flops) {
  constexpr int kRounds = 9;
  const int repeats = std::max(1, static_cast<int>(5e8 / flops));
  std::vector<std::vector<double>> times(runs.size());
  for (int round = -1; round < kRounds; ++round) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!runs[i]) continue;
      runs[i]();
      const auto start = ReportClock::now();
      for (int repeat = 0; repeat < repeats; ++repeat) runs[i]();
      const std::chrono::duration<double> time = ReportClock::now() - start;
      if (round >= 0) times[i].push_back(time.count() / repeats);
      // The library's threads look for more work for some milliseconds.
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  std::vector<double> result;
  for (std::vector<double>& own : times) {
    std::ranges::sort(own);
    result.push_back(own.empty() ? 0 : own[own.size() / 2]);
  }
  return result;
}

void report_row(const ReportedProduct& product, DataType type, int threads) {
  howard::host::HostDevice tuned(
      {.threads = threads, .tunes_products = true, .binds_threads = true});
  howard::host::HostDevice fixed({.threads = threads, .binds_threads = true});
  const std::vector<double> times =
      medians({on_device(tuned, product, type), on_device(fixed, product, type),
               by_onednn(product, type, threads)},
              product.flops());
  std::string cells;
  for (const double time : times) {
    cells += time > 0 ? fmt::format(" {:.0f} |", product.flops() / time / 1e9) : " - |";
  }
  fmt::print("| {}x{}x{}{} | {} | {} |{}\n", product.m, product.k, product.n,
             product.transpose_a ? ", A transposed" : (product.transpose_b ? ", B transposed" : ""),
             howard::name_of(type), threads, cells);
}

}  // namespace

int main() {
  const int most = howard::host::thread_count({});
  const dnnl_version_t& version = *dnnl_version();
  fmt::print("Ways measured: {}\n\n",
             howard::host::HostDevice({.tunes_products = true}).product_ways());
  fmt::print("| product, GFLOP/s | type | threads | tuned | fixed | oneDNN {}.{}.{} |\n",
             version.major, version.minor, version.patch);
  fmt::print("|---|---|---|---|---|---|\n");
  for (const ReportedProduct& product : kProducts) {
    for (const DataType type : {DataType::float32, DataType::bfloat16}) {
      for (const int threads : std::set{1, most}) report_row(product, type, threads);
    }
  }
  return 0;
}
