// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace trainyard::launch {

/// The resolution of a host's name on a separate thread. If the name server does not respond, a lookup can take many
/// seconds. It can neither be cancelled nor be given a deadline. So nobody waits for the thread: if the object is
/// destroyed before the lookup is done, the thread ends with the lookup, or when the program ends.
class NameLookup {
 public:
  /// A function that returns the address of a host, or throws if it cannot find the address.
  using Resolve = std::function<std::string(const std::string& host)>;

  NameLookup(const std::string& host, Resolve resolve);

  /// Returns the address, or an empty optional while it is not known yet. Throws what `resolve` has thrown.
  std::optional<std::string> result() const;

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;
};

}  // namespace trainyard::launch
