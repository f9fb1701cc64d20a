// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace trainyard::launch {

/// The resolution of a host's name on a thread of its own. A name server that does not answer can block a program for
/// many seconds, and neither can this be ended nor can a deadline be set. So nobody waits for the thread: if the object
/// is destroyed earlier, the thread ends when it has its answer, or with the program.
class NameLookup {
 public:
  /// Returns the address of a host, or throws.
  using Resolve = std::function<std::string(const std::string& host)>;

  NameLookup(const std::string& host, Resolve resolve);

  /// Returns the address, or nothing while it is not known yet. Throws what `resolve` has thrown.
  std::optional<std::string> result() const;

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;
};

}  // namespace trainyard::launch
