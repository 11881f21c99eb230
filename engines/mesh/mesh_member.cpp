// SPDX-License-Identifier: Apache-2.0
#include "engines/mesh/mesh_member.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "engines/device/bfloat16.h"

namespace howard::mesh {
namespace {

/// Describes a tensor's bytes as runs along one dimension: `count` times, the tensor holds a run of
/// `bytes` of each device in turn.
struct Runs {
  std::size_t count = 0;
  std::size_t bytes = 0;  ///< The size of one device's run.
};

Runs runs_of(const TensorSpec& part, int dimension) {
  const auto sides = part.shape.dimensions();
  std::int64_t count = 1;
  for (int i = 0; i < dimension; ++i) count *= sides[static_cast<std::size_t>(i)];
  return {.count = static_cast<std::size_t>(count),
          .bytes = static_cast<std::size_t>(part.host_bytes().value() / count)};
}

/// Returns the runs of the device at `place` out of the whole tensor of `devices`.
std::vector<std::byte> share_of(const std::vector<std::byte>& whole, const Runs& runs,
                                std::size_t devices, std::size_t place) {
  std::vector<std::byte> share(runs.count * runs.bytes);
  for (std::size_t i = 0; i < runs.count; ++i) {
    std::memcpy(share.data() + i * runs.bytes, whole.data() + (i * devices + place) * runs.bytes,
                runs.bytes);
  }
  return share;
}

/// Adds `share`, whose elements are of a data type, to `sum`, which is float32.
void add_to(std::vector<float>& sum, const std::vector<std::byte>& share, DataType dtype) {
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if (dtype == DataType::float32) {
      float value = 0;
      std::memcpy(&value, share.data() + i * sizeof value, sizeof value);
      sum[i] += value;
    } else {
      std::uint16_t bits = 0;
      std::memcpy(&bits, share.data() + i * sizeof bits, sizeof bits);
      sum[i] += from_bfloat16(bits);
    }
  }
}

std::vector<std::byte> bytes_of(const std::vector<float>& values, DataType dtype) {
  const bool wide = dtype == DataType::float32;
  std::vector<std::byte> bytes(values.size() * (wide ? sizeof(float) : sizeof(std::uint16_t)));
  if (wide) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint16_t bits = to_bfloat16(values[i]);
    std::memcpy(bytes.data() + i * sizeof bits, &bits, sizeof bits);
  }
  return bytes;
}

}  // namespace

MeshMember::MeshMember(Device& device, Communicator& ranks, std::vector<std::vector<int>> groups)
    : TraceSplitter(device), ranks_(ranks), groups_(std::move(groups)) {
  for (const std::vector<int>& group : groups_) {
    HOWARD_CHECK(std::ranges::find(group, ranks.rank()) != group.end(),
                 "a device belongs to its groups");
  }
}

bool MeshMember::runs_itself(const Program& program) const {
  return std::holds_alternative<AllGatherAttributes>(program.attributes) ||
         std::holds_alternative<ReduceScatterAttributes>(program.attributes);
}

void MeshMember::run(const Program& program) {
  const std::vector<int>& group = group_of(program);
  const Operand& in = program.inputs[0];
  const Operand& out = program.outputs[0];
  const auto* const gathers = std::get_if<AllGatherAttributes>(&program.attributes);
  const auto [whole, part] = gathers != nullptr ? std::pair(out, in) : std::pair(in, out);
  HOWARD_CHECK(whole.spec.shape.elements() == std::ssize(group) * part.spec.shape.elements(),
               "a collective's tensors are as many as its devices");
  queue_behind().write_buffer(
      out.buffer,
      gathers != nullptr
          ? gather(group, gathers->dimension, in)
          : sum_share(group, std::get<ReduceScatterAttributes>(program.attributes).side(), in));
}

const std::vector<int>& MeshMember::group_of(const Program& program) {
  std::uint32_t number = 0;
  const std::vector<std::byte> bytes = read(program.inputs[1]);
  std::memcpy(&number, bytes.data(), sizeof number);
  HOWARD_CHECK(number < groups_.size(), "a group of this mesh");
  return groups_[number];
}

std::vector<std::byte> MeshMember::read(const Operand& operand) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(operand.spec.host_bytes().value()));
  queue_behind().read_buffer(operand.buffer, bytes);
  return bytes;
}

std::vector<std::byte> MeshMember::gather(const std::vector<int>& group, int dimension,
                                          const Operand& part) {
  const std::vector<std::byte> own = read(part);
  for (const int rank : group) {
    if (rank != ranks_.rank()) ranks_.send(rank, own);
  }
  const Runs runs = runs_of(part.spec, dimension);
  std::vector<std::byte> whole(own.size() * group.size());
  for (std::size_t place = 0; place < group.size(); ++place) {
    const std::vector<std::byte> theirs =
        group[place] == ranks_.rank() ? own : ranks_.receive(group[place]);
    HOWARD_CHECK(theirs.size() == own.size(), "all devices gather parts of one size");
    for (std::size_t i = 0; i < runs.count; ++i) {
      std::memcpy(whole.data() + (i * group.size() + place) * runs.bytes,
                  theirs.data() + i * runs.bytes, runs.bytes);
    }
  }
  return whole;
}

std::vector<std::byte> MeshMember::sum_share(const std::vector<int>& group, int dimension,
                                             const Operand& whole) {
  const std::vector<std::byte> own = read(whole);
  Runs runs = runs_of(whole.spec, dimension);
  runs.bytes /= group.size();
  std::vector<std::byte> mine;
  for (std::size_t place = 0; place < group.size(); ++place) {
    std::vector<std::byte> share = share_of(own, runs, group.size(), place);
    if (group[place] == ranks_.rank()) {
      mine = std::move(share);
    } else {
      ranks_.send(group[place], share);
    }
  }
  const DataType dtype = whole.spec.dtype;
  std::vector<float> sum(mine.size() / (dtype == DataType::float32 ? 4 : 2));
  for (const int rank : group) {
    add_to(sum, rank == ranks_.rank() ? mine : ranks_.receive(rank), dtype);
  }
  return bytes_of(sum, dtype);
}

}  // namespace howard::mesh
