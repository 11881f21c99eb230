// SPDX-License-Identifier: Apache-2.0
//
// Question: how does the speed of one matrix product grow with its size, and what does it gain from
// ETH dispatch, which leaves 64 cores to compute instead of 56?
//
// The report (postscript, "eth dispatch discovery") found a dead heat up to 1024, 9 % at 2048 and a
// factor of 5.29 at 4096, which it explained by 4096 not dividing by 7. The planner says more. 128
// tile rows over 7 core rows are 19 a core, a prime, so the output block can only be cut to 19x1
// and A is read from DRAM 16 times. 4032 divides evenly; 8192 (37 a core) falls off again.
//
// Timing: A and B [n, n] in bf16, no core grid. 10 iterations warm up and 50 are timed, each from
// before the call to after its Finish; the result is the mean. So small sizes measure the host:
// call, dispatch and the finish round trip.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engines/chip/profiles/profile.h"
#include "engines/device/bfloat16.h"
#include "engines/ops/tensor.h"
#include "experiments/cases/emulated_case.h"
#include "experiments/cases/host_time.h"
#include "experiments/cases/kernel_account.h"
#include "experiments/experiment.h"
#include "experiments/questions/tuning.h"
#include "experiments/questions/what_ifs.h"
#include "profiler/bound.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::Better;
using harness::Case;
using harness::CellSource;
using harness::NotApplicable;
using harness::PointResult;

/// The report takes shares of this rate, in FLOP/s (part 3, utilisation table). It is its author's
/// best run, not what the cores can do.
constexpr double kReportsPeak = 52e12;

const auto kFinishesEach = choice_axis<bool>(
    "sync", "Finish after each product, or once at the end", {{"each", true}, {"end", false}});

/// Holds the operands of out = a @ b on a device, and the program.
struct Product {
  Product(Device& device, const ProductShape& shape, const chip::MatmulTypes& types,
          const MatmulAttributes& attributes)
      : a(device, {.shape = {shape.m, shape.k}, .dtype = types.a}),
        b(device, {.shape = {shape.k, shape.n}, .dtype = types.b}),
        out(device, {.shape = {shape.m, shape.n}, .dtype = types.out}),
        program(make_program(attributes, {a, b}, {out})) {}

  ops::Tensor a, b, out;
  Program program;
};

void describe_throughput(const Program& program, double seconds, PointResult& point) {
  point.metrics.push_back({.name = "throughput",
                           .value = static_cast<double>(program.flops.value()) / seconds,
                           .unit = "FLOP/s",
                           .better = Better::higher});
}

/// Adds the size as one number for plots: the cube root of M K N, rounded so that the last bits of
/// one machine's cbrt do not show.
void describe_size(const ProductShape& shape, PointResult& point) {
  const double volume =
      static_cast<double>(shape.m) * static_cast<double>(shape.k) * static_cast<double>(shape.n);
  point.metrics.push_back(
      {.name = "size", .value = std::round(std::cbrt(volume) * 1000) / 1000, .unit = "1"});
}

/// Returns the rows of a product that each queue takes: all of them, or two halves of whole tiles.
/// Throws Error if there is only one row of tiles.
std::vector<ProductShape> parts_of(const ProductShape& shape, bool two_queues) {
  if (!two_queues) return {shape};
  if (shape.m <= kTileSide) {
    throw Error({.attempted = "share a product by two queues",
                 .value = fmt::format("its {} rows are one row of tiles", shape.m),
                 .accepted = "more than 32 rows"});
  }
  const std::int64_t first = ceil_div(ceil_div(shape.m, 2), kTileSide) * kTileSide;
  return {{first, shape.k, shape.n}, {shape.m - first, shape.k, shape.n}};
}

/// Runs a product, or the two halves of its rows, each on half of the cores, with a queue and a
/// host thread of its own.
class EmulatedProduct final : public EmulatedCase {
 public:
  EmulatedProduct(const DevBox& box, const Point& point)
      : EmulatedCase(
            box.open_chip({.dispatch = point[kDispatch], .command_queues = point[kQueues]})),
        profiles_(box.profiles()),
        shape_(point[kShape]),
        finish_each_(point[kFinishesEach]) {
    const chip::MatmulTypes types = product_types(point);
    const MatmulAttributes attributes{.core_grid = point[kGrid],
                                      .compute = {.fidelity = point[kFidelity]},
                                      .config = point[kConfig]};
    const std::vector<ProductShape> parts = parts_of(shape_, point[kQueues] == 2);
    if (parts.size() == 2) divide();
    for (const ProductShape& part : parts) {
      Product& product = products_.emplace_back(device(), part, types, attributes);
      product.program.sub_device = static_cast<int>(products_.size()) - 1;
    }
    if (point[kTrace]) capture();
    for (int i = 0; i < parts_count(); ++i) device().use_host_thread(i);
    device().use_host_thread(0);
    if (!finish_each_ && parts_count() == 1) host_ = host_time(device(), [&] { run(); });
  }

  void run() override {
    for (int i = 0; i < parts_count(); ++i) {
      device().use_host_thread(i);
      if (traces_.empty()) {
        queue(i).enqueue(product(i).program);
      } else {
        queue(i).execute_trace(traces_[static_cast<std::size_t>(i)]);
      }
    }
    if (finish_each_) finish_all();
  }
  void finish() override {
    if (!finish_each_) finish_all();
  }

  void describe(double seconds, PointResult& point) const override {
    const chip::PlannedProgram& planned = device().explain(products_.front().program);
    const chip::KernelCost& kernel = planned.kernel;
    const double useful = useful_flops();
    point.metrics.push_back({.name = "throughput",
                             .value = useful / seconds,
                             .unit = "FLOP/s",
                             .better = Better::higher});
    describe_size(shape_, point);
    // These are all cores of the device, not only those that the plan uses, because the user paid
    // for all.
    const double peak =
        profiles_.chip.peak_flops(device().compute_grid().cores(), planned.matmul->fidelity);
    point.metrics.push_back({.name = "share_of_peak",
                             .value = useful / seconds / peak,
                             .unit = "1",
                             .better = Better::higher});
    point.metrics.push_back({.name = "share_of_52_tflops",
                             .value = useful / seconds / kReportsPeak,
                             .unit = "1",
                             .better = Better::higher});
    point.metrics.push_back({.name = "kernel_time",
                             .value = kernel.total.seconds(),
                             .unit = "s",
                             .virtual_time = kernel.total});
    const profiler::SpentTime spent{.whole = seconds,
                                    .kernels = kernel.total.seconds(),
                                    .host = host_.seconds(),
                                    .kernel_word = name_of(kernel.bottleneck)};
    KernelAccount kernels;
    kernels.add(planned.name, planned, calibration::band_of(planned, profiles_.chip.architecture));
    kernels.describe_error(spent, point);
    point.details.emplace_back("matmul_config", planned.matmul->text());
    if (!finish_each_) point.add(harness::kTimed, "a product, one finish after all");
    point.add(harness::kBoundBy, profiler::bound_by(spent));
    warn_of_padding(point);
  }

  /// Returns the fidelity with which ttnn computes it.
  MathFidelity fidelity() const {
    return device().explain(products_.front().program).matmul->fidelity;
  }
  CoreGrid compute_grid() const { return device().compute_grid(); }

  /// Returns why ttnn refuses the configuration that the point gives; absent if ttnn takes it.
  std::optional<std::string> refusal() const {
    try {
      for (const Product& part : products_) static_cast<void>(device().launches(part.program));
      return std::nullopt;
    } catch (const Error& failure) {
      return failure.text().value;
    }
  }

 private:
  int parts_count() const { return static_cast<int>(products_.size()); }
  const Product& product(int part) const { return products_[static_cast<std::size_t>(part)]; }

  double useful_flops() const {
    Flops flops;
    for (const Product& part : products_) flops += part.program.flops;
    return static_cast<double>(flops.value());
  }

  void divide() { device().set_sub_devices(column_halves(device().compute_grid())); }

  void capture() {
    for (int i = 0; i < parts_count(); ++i) {
      queue(i).begin_trace_capture();
      queue(i).enqueue(product(i).program);
      traces_.push_back(queue(i).end_trace_capture());
    }
  }

  void finish_all() {
    for (int i = 0; i < parts_count(); ++i) {
      device().use_host_thread(i);
      queue(i).finish();
    }
    device().join_host_threads();
  }

  void warn_of_padding(PointResult& point) const {
    const Product& product = products_.front();
    if (product.a.spec().shape.is_tile_aligned() && product.b.spec().shape.is_tile_aligned()) {
      return;
    }
    const auto padded = [](std::int64_t size) { return ceil_div(size, kTileSide) * kTileSide; };
    point.warnings.push_back(fmt::format(
        "{}x{}x{} is not a multiple of 32: the device computes {}x{}x{}, throughput counts the "
        "unpadded product",
        shape_.m, shape_.k, shape_.n, padded(shape_.m), padded(shape_.k), padded(shape_.n)));
  }

  const chip::Profiles& profiles_;
  ProductShape shape_;
  bool finish_each_;
  std::deque<Product> products_;  ///< One for each queue.
  std::vector<TraceId> traces_;   ///< One for each queue; empty if it runs call by call.
  SimTime host_;                  ///< The host's time for it; 0 if it waits, or for two queues.
};

/// Fills a tensor with values uniform in [-1, 1), in the buffer's data type. Values matter, because
/// a CPU may be faster on zeros.
void fill(Device& device, const ops::Tensor& tensor, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto next = [&] {
    return static_cast<float>(static_cast<std::int64_t>(random())) * 0x1p-63F;
  };
  const auto count = static_cast<std::size_t>(tensor.spec().shape.elements());
  CommandQueue& queue = device.command_queue(0);
  if (tensor.spec().dtype == DataType::float32) {
    std::vector<float> values(count);
    std::ranges::generate(values, next);
    queue.write_buffer(tensor.buffer(), std::as_bytes(std::span(values)));
  } else {
    std::vector<std::uint16_t> values(count);
    std::ranges::generate(values, [&] { return to_bfloat16(next()); });
    queue.write_buffer(tensor.buffer(), std::as_bytes(std::span(values)));
  }
}

class HostProduct final : public Case {
 public:
  HostProduct(const DevBox& box, const ProductShape& shape, DataType dtype)
      : device_(box.host()),
        shape_(shape),
        product_(*device_, shape, chip::MatmulTypes::all(dtype), {}) {
    fill(*device_, product_.a, box.seed());
    fill(*device_, product_.b, box.seed() + 1);
  }

  void run() override {
    device_->command_queue(0).enqueue(product_.program);
    device_->command_queue(0).finish();
  }
  void finish() override {}
  SimTime now() const override { return device_->now(); }
  void set_trace_sink(EventSink* sink) override { device_->set_trace_sink(sink); }

  void describe(double seconds, PointResult& point) const override {
    describe_throughput(product_.program, seconds, point);
    describe_size(shape_, point);
  }

 private:
  std::shared_ptr<host::HostDevice> device_;
  ProductShape shape_;
  Product product_;
};

harness::WhatIf weights_in_bfloat8_b(const Point& point) {
  const std::string what = "weights in bfloat8_b (other numbers)";
  const DataType weights = product_types(point).b;
  if (weights == DataType::bfloat8_b || weights == DataType::bfloat4_b) {
    return {what, {}, fmt::format("they are {} already", name_of(weights))};
  }
  return {what, {{kWeights.at(DataType::bfloat8_b)}}, {}};
}

void add_padding(const ProductShape& shape, std::vector<harness::WhatIf>& changes) {
  for (const auto& [what, size] : {std::pair("pad M", &ProductShape::m),
                                   {"pad K", &ProductShape::k},
                                   {"pad N", &ProductShape::n}}) {
    changes.push_back(pad(what, kShape.name, shape.*size, [&, side = size](std::int64_t wider) {
      ProductShape padded = shape;
      padded.*side = wider;
      return kShape.print(padded);
    }));
  }
}

std::vector<harness::WhatIf> matmul_what_ifs(const DevBox& box, const Point& point) {
  const EmulatedProduct product(box, point);
  std::vector<harness::WhatIf> changes{
      set_axis("no finish after each", point, kFinishesEach, false, "there is none"),
      set_axis("trace", point, kTrace, true, "it is a replay already"),
      set_axis("two queues", point, kQueues, 2, "it uses two already"),
      eth_dispatch(point),
      core_grids(point, product.compute_grid(), product.fidelity()),
      tuned_config(box, point, product.fidelity())};
  add_padding(point[kShape], changes);
  changes.push_back(set_axis<std::optional<MathFidelity>>("LoFi (other numbers)", point, kFidelity,
                                                          MathFidelity::lofi,
                                                          "its fidelity is LoFi already"));
  changes.push_back(set_axis("bfloat8_b (other numbers)", point, kDtype, DataType::bfloat8_b,
                             "its numbers are bfloat8_b already"));
  changes.push_back(weights_in_bfloat8_b(point));
  changes.push_back({"in-place outputs", {}, "the result has one buffer for all iterations"});
  changes.push_back({"fusing", {}, "it is one op"});
  return changes;
}

Prepared prepare_matmul(const DevBox& box, Backend backend, const Point& point) {
  if (backend == Backend::emulated) {
    if (auto reason = missing_cores(box.profiles().chip, point)) {
      return NotApplicable{std::move(*reason)};
    }
    auto product = std::make_unique<EmulatedProduct>(box, point);
    if (point[kConfig]) {
      if (auto reason = product->refusal()) return NotApplicable{std::move(*reason)};
    }
    return product;
  }
  const DataType dtype = point[kDtype];
  if (dtype != DataType::bfloat16 && dtype != DataType::float32) {
    return NotApplicable{"the host computes bfloat16 and float32 only"};
  }
  return std::make_unique<HostProduct>(box, point[kShape], dtype);
}

harness::Presentation matmul_presentation() {
  return {
      .timed = "a product and its finish",
      .columns = {{"shape", CellSource::parameter, "shape"},
                  {"dispatch", CellSource::parameter, "dispatch"},
                  {"dtype", CellSource::parameter, "dtype"},
                  {"time", CellSource::metric, "time"},
                  expected_error_column(),
                  {"rate", CellSource::metric, "throughput"},
                  {"of peak", CellSource::metric, "share_of_peak", harness::Room::spare,
                   "the rate over that of all compute cores at the product's fidelity"},
                  {"published", CellSource::reference, ""},
                  {"error", CellSource::error, ""},
                  {"bound by", CellSource::detail, "bound_by"},
                  {"of 52 TFLOPS", CellSource::metric, "share_of_52_tflops", harness::Room::spare,
                   "the rate over the report's best, which it takes for the peak"},
                  {"matmul configuration", CellSource::detail, "matmul_config"}},
      .plots = {{.title = "One matrix product",
                 .x_label = "size: cube root of M K N",
                 .y_label = "throughput",
                 .x = "size",
                 .y = "throughput",
                 .series = {"dispatch", "dtype"},
                 .notes = {{"sync", "each", "a finish after each"},
                           {"sync", "end", "one finish at the end"}}}}};
}

}  // namespace

Experiment matmul_sweep(const Box& box) {
  const harness::Axis shape = kShape.with({"128x128x128", "256x256x256", "512x512x512",
                                           "1024x1024x1024", "2048x2048x2048", "4096x4096x4096"},
                                          {"128x128x128", "512x512x512", "1024x1024x1024"});
  return {
      .name = "matmul_sweep",
      .question = "TFLOPS against size: how fast is a product, and what does ETH dispatch gain?",
      .axes = {shape, kDispatch.with({"worker", "eth"}), kDtype.with({"bfloat16"}),
               kWeights.optional(), kOutput.optional(), kFidelity.with({"default"}),
               kGrid.with({"default"}), kConfig.optional(), kFinishesEach.with({"each"}),
               kTrace.optional(),
               kQueues
                   .means("2: each half of the rows on half of the cores, with a queue and a "
                          "host thread of its own; not set: 1")
                   .optional()},
      .host_axes = {shape, kDtype.with({"bfloat16"})},
      .timing = {.warmup = 10, .iterations = 50},
      .presentation = matmul_presentation(),
      .prepare = [=](Backend backend,
                     const Point& point) { return prepare_matmul(*box, backend, point); },
      .what_ifs = [=](const Point& point) { return matmul_what_ifs(*box, point); }};
}

}  // namespace howard::experiments
