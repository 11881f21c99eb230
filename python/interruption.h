// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <optional>
#include <thread>

namespace howard::python {

/// Lets go of the interpreter for as long as it lives, so that Python's other threads go on, and
/// watches for what its signal handlers raise meanwhile: Ctrl-C.
class LongWork {
 public:
  /// True once a handler has raised something. For any thread; Python runs its handlers on the main
  /// thread, and so it is asked only where this was made.
  bool interrupted() {
    if (std::this_thread::get_id() != thread_ || interrupted_) return interrupted_;
    const pybind11::gil_scoped_acquire hold;
    if (PyErr_CheckSignals() != 0) {
      raised_.emplace();
      interrupted_ = true;
    }
    return interrupted_;
  }

  /// Calls `work` and gives what it gives. What a handler raised is raised instead.
  template <class Work>
  static auto run(const Work& work) {
    LongWork self;
    const auto raise = [&] {
      if (self.raised_) throw pybind11::error_already_set(*self.raised_);
    };
    try {
      auto result = [&] {
        const pybind11::gil_scoped_release release;
        return work(self);
      }();
      raise();
      return result;
    } catch (const pybind11::error_already_set&) {
      throw;
    } catch (...) {
      raise();
      throw;
    }
  }

 private:
  const std::thread::id thread_ = std::this_thread::get_id();
  std::atomic<bool> interrupted_ = false;
  std::optional<pybind11::error_already_set> raised_;
};

}  // namespace howard::python
