// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "core/testing/temporary_folder.h"

namespace trainyard::testing {

/// An entry that tells a contract test how to construct one plugin. A contract test tests every plugin of a kind. A
/// plugin that can be constructed without parameters needs no entry.
///
/// The entry of a plugin is a global object in the file `testing/contract.cpp` in the plugin's folder, which the build
/// finds by itself:
///
///    const ContractCase<DatasetCase> tokens("tokens", [](const TemporaryFolder& folder) {
///      return DatasetCase{.parameters = ...};
///    });
///
/// `Case` is the struct that the contract test of this kind defines, such as DatasetCase.
template <class Case>
class ContractCase {
 public:
  /// A function that makes a case. It can write the files that the case needs into the folder, which is new for every
  /// test.
  using Make = std::function<Case(const TemporaryFolder&)>;

  ContractCase(const std::string& plugin, Make make) { cases()[plugin] = std::move(make); }

  /// Returns the case of a plugin, or a case without parameters if the plugin has no entry.
  static Case of(const std::string& plugin, const TemporaryFolder& folder) {
    const auto found = cases().find(plugin);
    return found == cases().end() ? Case{} : found->second(folder);
  }

 private:
  /// Returns the entries, by the name of the plugin. The map is a variable inside a function, because the entries
  /// register themselves before main() in no particular order.
  static std::map<std::string, Make>& cases() {
    static std::map<std::string, Make> all;
    return all;
  }
};

}  // namespace trainyard::testing
