// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engines/host/host_memory.h"
#include "engines/host/kernels/kernel.h"
#include "engines/host/kernels/matmul/matmul_kernel.h"
#include "engines/host/kernels/matmul/swiglu_kernel.h"
#include "engines/program/program.h"

namespace howard::host {

struct FusedPrograms;
struct RenamedTrace;

/// A kernel together with the buffers it works on, ready to run.
struct Command {
  std::string_view name;
  std::string_view dtype;  ///< The data type of its first operand.
  Flops flops;
  /// The sum of the operands' sizes: what must be read and written if caches are left out.
  Bytes operands;
  Kernel kernel;
  /// The buffers that the command keeps alive, inputs or outputs; empty if it runs at once.
  std::vector<std::shared_ptr<std::byte[]>> buffers;
};

/// A captured trace, ready to run again and again.
struct Recording {
  std::vector<Command> commands;
  /// Buffers that were allocated for this recording and are released with it.
  std::vector<BufferId> own;
};

/// Makes commands from programs. Every function that takes a user's program throws Error when the
/// operands do not fit their buffers or the host has no kernel for them.
class CommandMaker {
 public:
  /// `memory` and `context` must outlive this object and its commands.
  CommandMaker(HostMemory& memory, const KernelContext& context)
      : memory_(memory), context_(context), matmuls_(context), swiglus_(matmuls_, context_) {}

  /// Makes a command that runs once and does not hold its buffers.
  Command unheld(const Program& program);
  /// Returns the buffers of the program's inputs, followed by those of its outputs.
  std::vector<std::shared_ptr<std::byte[]>> buffers_of(const Program& program) const;
  /// Makes a command that runs again and again; its buffers are given to no other tensor.
  Command recorded(const Program& program);

  /// Makes a recording of the captured programs in which programs are fused where possible. `apart`
  /// is their recording without fusion.
  Recording fused(std::span<const Program> captured, const Recording& apart);

 private:
  void require_spec(const Operand& operand) const;
  const std::shared_ptr<std::byte[]>& values(BufferId buffer) const;
  Command command_of(const Program& program);
  /// Makes the kernel of the product, with its activation in place.
  Kernel product_kernel(const MatmulAttributes& attributes, const Program& program,
                        const Call& call);
  Command command_of(const FusedPrograms& group, const RenamedTrace& trace);
  void fuse_into(Recording& result, std::span<const Program> captured);

  HostMemory& memory_;
  KernelContext context_;
  MatmulKernels matmuls_;
  SwigluKernels swiglus_;
  /// These hold the addresses for one program; they are members only to reuse their memory.
  std::vector<std::byte*> inputs_, outputs_;
  /// Used while a capture is fused: some of its buffers may have been released during the capture.
  std::map<BufferId, std::shared_ptr<std::byte[]>> captured_values_;
};

}  // namespace howard::host
