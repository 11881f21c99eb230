// SPDX-License-Identifier: Apache-2.0
// Prints as Markdown how fast this machine multiplies matrices: the host engine, and oneDNN and
// OpenBLAS (where it is installed) with threads of their own. The runs of a row are interleaved;
// each cell is a median in GFLOP/s. Arguments are the types to measure, float32 and bfloat16 unless
// given. The build target `host_report` prints this and then the training steps.
#include <dlfcn.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <dnnl.hpp>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "engines/host/host_device.h"
#include "engines/host/host_memory.h"
#include "engines/host/host_options.h"
#include "engines/host/instruction_set.h"
#include "engines/host/kernels/matmul/onednn_part.h"
#include "engines/host/openblas_kernels.h"

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

constexpr std::array kReported{DataType::float32, DataType::bfloat16};

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
    const auto description = howard::host::product_of(
        {}, describe(product.m, product.k, product.transpose_a),
        describe(product.k, product.n, product.transpose_b), describe(product.m, product.n, false));
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

/// The function cblas_sgemm of OpenBLAS.
using Sgemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k,
                       float alpha, const float* a, int step_a, const float* b, int step_b,
                       float beta, float* c, int step_c);

/// Returns OpenBLAS's product with kernels for the engine's instruction set, or null if the library
/// is not installed. It uses OpenMP's threads, as oneDNN does, so the two never fight for the
/// cores. What OpenMP allows when the library is loaded is the most that it ever uses (0.3.29).
Sgemm openblas() {
  static const Sgemm kSgemm = []() -> Sgemm {
    using howard::host::best_instruction_set;
    setenv("OPENBLAS_CORETYPE", howard::host::openblas_kernels(best_instruction_set()), 1);
    constexpr const char* kDebians = "/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0";
    void* const library = dlopen(kDebians, RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr : reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
  }();
  return kSgemm;
}

/// Returns a function that computes a product once by OpenBLAS, or an empty one if it cannot.
std::function<void()> by_openblas(const ReportedProduct& product, DataType type, int threads) {
  const Sgemm sgemm = openblas();
  if (sgemm == nullptr || type != DataType::float32) return {};
  const auto filled = [](std::int64_t elements) {
    const howard::Bytes size(elements * 4);
    auto values = std::make_shared<howard::host::LargePages>(size);
    std::fill_n(values->get(), size.value(), std::byte{kByte});
    return values;
  };
  const auto numbers = [](const std::shared_ptr<howard::host::LargePages>& values) {
    return reinterpret_cast<float*>(values->get());
  };
  constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;  // as cblas.h numbers them
  const int m = static_cast<int>(product.m);
  const int k = static_cast<int>(product.k);
  const int n = static_cast<int>(product.n);
  const bool ta = product.transpose_a;
  const bool tb = product.transpose_b;
  return [=, a = filled(product.m * product.k), b = filled(product.k * product.n),
          c = filled(product.m * product.n)] {
    omp_set_num_threads(threads);
    sgemm(kRowMajor, ta ? kTransposed : kPlain, tb ? kTransposed : kPlain, m, n, k, 1, numbers(a),
          ta ? m : k, numbers(b), tb ? k : n, 0, numbers(c), n);
  };
}

/// Measures all of `runs` in turn and returns their median times in seconds; an empty one gives 0.
/// The largest products take a second each, so they have fewer rounds.
std::vector<double> medians(const std::vector<std::function<void()>>& runs, double flops) {
  const int rounds = flops > 5e10 ? 3 : (flops > 5e9 ? 5 : 9);
  const int repeats = std::max(1, static_cast<int>(5e8 / flops));
  std::vector<std::vector<double>> times(runs.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!runs[i]) continue;
      if (round == 0 || flops < 5e9) runs[i]();
      const auto start = ReportClock::now();
      for (int repeat = 0; repeat < repeats; ++repeat) runs[i]();
      const std::chrono::duration<double> time = ReportClock::now() - start;
      times[i].push_back(time.count() / repeats);
      // The libraries' threads look for more work for some milliseconds.
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
  howard::host::HostDevice engine({.threads = threads, .binds_threads = true});
  const std::vector<double> times =
      medians({on_device(engine, product, type), by_onednn(product, type, threads),
               by_openblas(product, type, threads)},
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

int main(int argc, char** argv) {
  std::vector<DataType> types;
  for (const char* const word : std::vector<const char*>(argv + 1, argv + argc)) {
    const auto type = std::ranges::find_if(
        kReported, [&](DataType each) { return howard::name_of(each) == std::string_view(word); });
    if (type == kReported.end()) {
      fmt::print(stderr, "howard_host_product_report: {}: a type is float32 or bfloat16\n", word);
      return 2;
    }
    types.push_back(*type);
  }
  if (types.empty()) types.assign(kReported.begin(), kReported.end());
  openblas();  // loaded while OpenMP allows all threads
  const int most = howard::host::thread_count({});
  const dnnl_version_t& version = *dnnl_version();
  fmt::print("| product, GFLOP/s | type | threads | engine | oneDNN {}.{}.{} | OpenBLAS |\n",
             version.major, version.minor, version.patch);
  fmt::print("|---|---|---|---|---|---|\n");
  for (const ReportedProduct& product : kProducts) {
    for (const DataType type : types) {
      for (const int threads : std::set{1, most}) report_row(product, type, threads);
    }
  }
  return 0;
}
