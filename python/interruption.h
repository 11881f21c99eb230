// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <optional>
#include <thread>

namespace howard::python {

/// Releases the interpreter during its lifetime, so that Python's other threads continue, and
/// watches for exceptions that Python's signal handlers raise meanwhile, as for Ctrl-C.
class LongWork {
 public:
  /// Returns true once a handler has raised something. Any thread may call it. Python runs its
  /// handlers on the main thread, so Python is asked only on the thread that made this object.
  bool interrupted() {
    if (std::this_thread::get_id() != thread_ || interrupted_) return interrupted_;
    const pybind11::gil_scoped_acquire hold;
    if (PyErr_CheckSignals() != 0) {
      raised_.emplace();
      interrupted_ = true;
    }
    return interrupted_;
  }

  /// Calls `work` and returns its result. If a handler raised something, that is raised instead.
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
