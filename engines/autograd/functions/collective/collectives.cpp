// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/collective/collectives.h"

#include "base/check.h"
#include "engines/autograd/host_values.h"
#include "engines/ops/tensor.h"

namespace howard::autograd {
namespace {

using ops::Tensor;

constexpr int kRows = 2;  // the dimension of the rows

/// Returns the sum of the copies, which it gathers first.
Tensor sum_of_copies(const Calls& calls, const Tensor& x, const DeviceGroup& group) {
  const Shape& shape = x.spec().shape;
  const Tensor one = x.view({shape.batch(), 1, shape.rows(), shape.columns()});
  const Tensor all = all_gather(calls, one, group, 1);
  return calls
      .call(
          ReduceAttributes{
              .reduction = Reduction::sum, .dimension = Dimension::batch, .moreh = true},
          {all}, one.spec())
      .view(shape);
}

struct SharedInput {
  Value x;
  const DeviceGroup* group;

  void backward(Tape& tape, Value output) const {
    if (!tape.needs_gradient(x)) return;
    tape.accumulate(x, all_reduce(tape.calls(), tape.gradient(output), *group));
  }
};

struct SummedOutput {
  Value x;

  void backward(Tape& tape, Value output) const { tape.accumulate(x, tape.gradient(output)); }
};

struct GatheredColumns {
  Value x;
  const DeviceGroup* group;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const TensorSpec& own = tape.spec(x);
    const std::int64_t first = group->place() * own.shape.columns();
    tape.accumulate(
        x, calls.call(SliceAttributes{.begins = {0, 0, 0, first}}, {tape.gradient(output)}, own));
  }
};

struct GatheredRows {
  Value x;
  const DeviceGroup* group;

  void backward(Tape& tape, Value output) const {
    tape.accumulate(x,
                    reduce_scatter(tape.calls(), tape.gradient(output), *group, Dimension::rows));
  }
};

/// Both the sum's rows and the rows of a common value have the gradient of all rows.
struct DividedRows {
  Value x;
  const DeviceGroup* group;

  void backward(Tape& tape, Value output) const {
    tape.accumulate(x, all_gather(tape.calls(), tape.gradient(output), *group, kRows));
  }
};

bool is_alone(const DeviceGroup* group) { return group == nullptr || group->devices() == 1; }

}  // namespace

DeviceGroup::DeviceGroup(Device& device, std::uint32_t number, int devices, int place)
    : handle_(device, {.shape = {1, 1}, .dtype = DataType::uint32, .layout = Layout::row_major}),
      devices_(devices),
      place_(place) {
  HOWARD_CHECK(devices >= 1 && place >= 0 && place < devices, "a place in a group of devices");
  write_indices(device.command_queue(0), handle_, std::span(&number, 1));
}

Tensor all_gather(const Calls& calls, const Tensor& part, const DeviceGroup& group, int dimension) {
  return calls.call(AllGatherAttributes{.dimension = dimension}, {part, group.handle()},
                    all_gather_output(part.spec(), group.devices(), dimension));
}

Tensor reduce_scatter(const Calls& calls, const Tensor& x, const DeviceGroup& group,
                      Dimension dimension) {
  return calls.call(ReduceScatterAttributes{.dimension = dimension}, {x, group.handle()},
                    reduce_scatter_output(x.spec(), group.devices(), dimension));
}

Tensor all_reduce(const Calls& calls, const Tensor& x, const DeviceGroup& group) {
  if (group.devices() == 1) return x;
  const Shape& shape = x.spec().shape;
  const auto divides = [&](std::int64_t size) { return size % (kTileSide * group.devices()) == 0; };
  if (divides(shape.columns())) {
    return all_gather(calls, reduce_scatter(calls, x, group, Dimension::columns), group, 3);
  }
  if (divides(shape.rows())) {
    return all_gather(calls, reduce_scatter(calls, x, group, Dimension::rows), group, kRows);
  }
  return sum_of_copies(calls, x, group);
}

Value shared_input(Tape& tape, Value x, const DeviceGroup* group) {
  if (is_alone(group)) return x;
  const Tensor same = tape.tensor(x);
  return tape.record(same, {x}, SharedInput{x, group});
}

Value summed_output(Tape& tape, Value x, const DeviceGroup* group) {
  if (is_alone(group)) return x;
  return tape.record(all_reduce(tape.calls(), tape.tensor(x), *group), {x}, SummedOutput{x});
}

Value gathered_columns(Tape& tape, Value x, const DeviceGroup* group) {
  if (is_alone(group)) return x;
  return tape.record(all_gather(tape.calls(), tape.tensor(x), *group), {x},
                     GatheredColumns{x, group});
}

Value gathered_rows(Tape& tape, Value x, const DeviceGroup& group) {
  return tape.record(all_gather(tape.calls(), tape.tensor(x), group, kRows), {x},
                     GatheredRows{x, &group});
}

Value summed_rows(Tape& tape, Value x, const DeviceGroup& group) {
  return tape.record(reduce_scatter(tape.calls(), tape.tensor(x), group, Dimension::rows), {x},
                     DividedRows{x, &group});
}

Value own_rows(Tape& tape, Value x, const DeviceGroup& group) {
  const Calls& calls = tape.calls();
  const Shape& shape = tape.spec(x).shape;
  const std::int64_t rows = shape.rows() / group.devices();
  const Tensor own = calls.call(SliceAttributes{.begins = {0, 0, group.place() * rows, 0}},
                                {tape.tensor(x)}, {shape.with_rows(rows), tape.spec(x).dtype});
  return tape.record(own, {x}, DividedRows{x, &group});
}

}  // namespace howard::autograd
