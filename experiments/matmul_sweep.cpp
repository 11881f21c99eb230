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
#include "engines/ops/matmul/matmul.h"
#include "engines/ops/tensor.h"
#include "experiments/axes/axes.h"
#include "experiments/cases/emulated_case.h"
#include "experiments/cases/known_time.h"
#include "experiments/laboratory/devbox.h"
#include "experiments/laboratory/experiment_list.h"
#include "experiments/questions/tuning.h"
#include "experiments/questions/what_ifs.h"
#include "profiler/bound.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::Better;
using harness::Case;
using harness::CellSource;
using harness::find_parameter;
using harness::Metric;
using harness::NotApplicable;
using harness::Parameters;
using harness::PointResult;

/// The report takes shares of this rate, in FLOP/s (part 3, utilisation table). It is its author's
/// best run, not what the cores can do.
constexpr double kReportsPeak = 52e12;

/// Holds the operands of out = a @ b on a device, and the program.
struct Product {
  Product(Device& device, const ProductShape& shape, const chip::MatmulTypes& types,
          const MatmulAttributes& attributes)
      : a(device, {.shape = {shape.m, shape.k}, .dtype = types.a}),
        b(device, {.shape = {shape.k, shape.n}, .dtype = types.b}),
        out(device, {.shape = {shape.m, shape.n}, .dtype = types.out}),
        program(ops::matmul(a, b, out, attributes)) {}

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
  EmulatedProduct(const DevBox& box, const Parameters& parameters)
      : EmulatedCase(
            box.open_chip({.dispatch = parse_dispatch(*find_parameter(parameters, "dispatch")),
                           .command_queues = uses_two_queues(parameters) ? 2 : 1})),
        profiles_(box.profiles()),
        shape_(parse_shape(*find_parameter(parameters, "shape"))),
        finish_each_(*find_parameter(parameters, "sync") == "each") {
    const chip::MatmulTypes types = product_types(parameters);
    const MatmulAttributes attributes{
        .core_grid = parse_grid(*find_parameter(parameters, "grid")),
        .compute = {.fidelity = parse_fidelity(*find_parameter(parameters, "fidelity"))},
        .config = config_of(parameters)};
    const std::vector<ProductShape> parts = parts_of(shape_, uses_two_queues(parameters));
    if (parts.size() == 2) divide();
    for (const ProductShape& part : parts) {
      Product& product = products_.emplace_back(device(), part, types, attributes);
      product.program.sub_device = static_cast<int>(products_.size()) - 1;
    }
    if (parameter_or(parameters, "trace", "no") == "yes") capture();
    for (int i = 0; i < parts_count(); ++i) device().use_host_thread(i);
    device().use_host_thread(0);
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
    calibration::KnownTime known;
    known.add(kernel.total, calibration::band_of(planned));
    describe_band(seconds, known, /*host_sets_pace=*/false, point);
    point.details.emplace_back("matmul_config", planned.matmul->text());
    if (!finish_each_) point.details.emplace_back("timed", "a product, one finish after all");
    point.details.emplace_back("bound_by",
                               profiler::bound_by({.whole = seconds,
                                                   .kernels = kernel.total.seconds(),
                                                   .kernel_word = name_of(kernel.bottleneck)}));
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
  static bool uses_two_queues(const Parameters& parameters) {
    return parameter_or(parameters, "queues", "1") == "2";
  }
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

class MatmulSweep final : public harness::Experiment {
 public:
  explicit MatmulSweep(std::shared_ptr<const DevBox> box) : box_(std::move(box)) {}

  std::string_view name() const override { return "matmul_sweep"; }
  std::string_view question() const override {
    return "TFLOPS against size: how fast is a product, and what does ETH dispatch gain?";
  }

  std::vector<harness::Axis> axes(Backend backend) const override {
    const harness::Axis shape = shape_axis({"128x128x128", "256x256x256", "512x512x512",
                                            "1024x1024x1024", "2048x2048x2048", "4096x4096x4096"},
                                           {"128x128x128", "512x512x512", "1024x1024x1024"});
    if (backend == Backend::host) return {shape, dtype_axis()};
    return {shape,
            dispatch_axis(),
            dtype_axis(),
            weights_axis(),
            output_axis(),
            fidelity_axis(),
            grid_axis(),
            config_axis(),
            harness::word_axis("sync", "Finish after each product, or once at the end",
                               {"each", "end"}, {"each"}),
            trace_axis(),
            queues_axis("2: each half of the rows on half of the cores, with a queue and a host "
                        "thread of its own; not set: 1")};
  }

  harness::VirtualTiming timing() const override { return {.warmup = 10, .iterations = 50}; }

  harness::Presentation presentation() const override {
    return {
        .timed = "a product and its finish",
        .columns = {{"shape", CellSource::parameter, "shape"},
                    {"dispatch", CellSource::parameter, "dispatch"},
                    {"dtype", CellSource::parameter, "dtype"},
                    {"time", CellSource::metric, "time"},
                    mean_error_column(),
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

  std::vector<harness::WhatIf> what_ifs(const Parameters& parameters) const override {
    const EmulatedProduct product(*box_, parameters);
    std::vector<harness::WhatIf> changes{
        set_axis("no finish after each", parameters, "sync", "end", "there is none"),
        set_axis("trace", parameters, "trace", "yes", "it is a replay already"),
        set_axis("two queues", parameters, "queues", "2", "it uses two already"),
        eth_dispatch(parameters),
        core_grids(parameters, product.compute_grid(), name_of(product.fidelity())),
        tuned_config(*box_, parameters, name_of(product.fidelity()))};
    add_padding(parse_shape(*find_parameter(parameters, "shape")), changes);
    changes.push_back(set_axis("LoFi (other numbers)", parameters, "fidelity", "LoFi",
                               "its fidelity is LoFi already"));
    changes.push_back(set_axis("bfloat8_b (other numbers)", parameters, "dtype", "bfloat8_b",
                               "its numbers are bfloat8_b already"));
    changes.push_back(weights_in_bfloat8_b(parameters));
    changes.push_back({"in-place outputs", {}, "the result has one buffer for all iterations"});
    changes.push_back({"fusing", {}, "it is one op"});
    return changes;
  }

  std::variant<std::unique_ptr<Case>, NotApplicable> prepare(
      Backend backend, const Parameters& parameters) const override {
    if (backend == Backend::emulated) {
      if (auto reason = missing_cores(box_->profiles().chip, parameters)) {
        return NotApplicable{std::move(*reason)};
      }
      auto product = std::make_unique<EmulatedProduct>(*box_, parameters);
      if (config_of(parameters)) {
        if (auto reason = product->refusal()) return NotApplicable{std::move(*reason)};
      }
      return product;
    }
    const DataType dtype = parse_data_type(*find_parameter(parameters, "dtype"));
    if (dtype != DataType::bfloat16 && dtype != DataType::float32) {
      return NotApplicable{"the host computes bfloat16 and float32 only"};
    }
    return std::make_unique<HostProduct>(*box_, parse_shape(*find_parameter(parameters, "shape")),
                                         dtype);
  }

 private:
  static harness::WhatIf weights_in_bfloat8_b(const Parameters& parameters) {
    const std::string what = "weights in bfloat8_b (other numbers)";
    const DataType weights = product_types(parameters).b;
    if (weights == DataType::bfloat8_b || weights == DataType::bfloat4_b) {
      return {what, {}, fmt::format("they are {} already", name_of(weights))};
    }
    return {what, {{{"weights", "bfloat8_b"}}}, {}};
  }

  static void add_padding(const ProductShape& shape, std::vector<harness::WhatIf>& changes) {
    const auto text = [](const ProductShape& padded) {
      return fmt::format("{}x{}x{}", padded.m, padded.k, padded.n);
    };
    changes.push_back(pad("pad M", "shape", shape.m, [&](std::int64_t size) {
      return text({size, shape.k, shape.n});
    }));
    changes.push_back(pad("pad K", "shape", shape.k, [&](std::int64_t size) {
      return text({shape.m, size, shape.n});
    }));
    changes.push_back(pad("pad N", "shape", shape.n, [&](std::int64_t size) {
      return text({shape.m, shape.k, size});
    }));
  }

  std::shared_ptr<const DevBox> box_;
};

}  // namespace

std::unique_ptr<harness::Experiment> matmul_sweep(std::shared_ptr<const DevBox> box) {
  return std::make_unique<MatmulSweep>(std::move(box));
}

}  // namespace howard::experiments
