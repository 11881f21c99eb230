// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engines/device/program.h"
#include "engines/host/host_memory.h"
#include "engines/host/kernels/kernel.h"
#include "engines/host/products/matmul_kernel.h"

namespace howard::host {

struct FusedPrograms;
struct RenamedTrace;

/// A kernel with what it works on, ready to run.
struct Command {
  std::string_view name;
  std::string_view dtype;  ///< Of its first operand.
  Flops flops;
  Bytes operands;  ///< Each of them once: what must be read and written, caches aside.
  Kernel kernel;
  /// Kept alive, in or out; none if it runs at once.
  std::vector<std::shared_ptr<std::byte[]>> buffers;
};

/// A captured trace, ready to run again and again.
struct Recording {
  std::vector<Command> commands;
  std::vector<BufferId> own;  ///< That came to be with it, and go with it.
};

/// Makes commands of programs. Every function that takes a program of a user refuses, with an
/// Error, one whose operands do not fit their buffers or that the host has no kernel for.
class CommandMaker {
 public:
  /// Both must outlive this and the commands.
  CommandMaker(HostMemory& memory, const KernelContext& context)
      : memory_(memory), context_(context), matmuls_(context) {}

  /// For once, without its `buffers`.
  Command unheld(const Program& program);
  /// Of its inputs, then of its outputs.
  std::vector<std::shared_ptr<std::byte[]>> buffers_of(const Program& program) const;
  /// For again and again: its buffers go to no other tensor.
  Command recorded(const Program& program);

  /// The captured programs, of which `apart` is the recording, with those that can be as one.
  Recording fused(std::span<const Program> captured, const Recording& apart);

 private:
  void require_spec(const Operand& operand) const;
  const std::shared_ptr<std::byte[]>& values(BufferId buffer) const;
  Command command_of(const Program& program);
  Command command_of(const FusedPrograms& group, const RenamedTrace& trace);
  void fuse_into(Recording& result, std::span<const Program> captured);

  HostMemory& memory_;
  KernelContext context_;
  MatmulKernels matmuls_;
  std::vector<std::byte*> inputs_, outputs_;  ///< Of one program; kept for their memory.
  /// While a capture is fused: some of its buffers may have been released during it.
  std::map<BufferId, std::shared_ptr<std::byte[]>> captured_values_;
};

}  // namespace howard::host
