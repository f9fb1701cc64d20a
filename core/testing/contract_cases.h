// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "core/testing/temporary_folder.h"

namespace trainyard::testing {

/// What the contract test of a family needs for each plugin, by the name of the plugin. A plugin that can be
/// constructed without parameters needs no entry.
///
/// The entry of a plugin lies in the plugin's own folder, in `testing/contract.cpp`, which the build finds by itself:
///
///    const ContractCase<DatasetCase> tokens("tokens", [](const TemporaryFolder& folder) {
///      return DatasetCase{.parameters = ...};
///    });
///
/// `Case` is a struct of the family.
template <class Case>
class ContractCase {
 public:
  /// Makes a case. The files that it needs are written into the folder, which is new for every test.
  using Make = std::function<Case(const TemporaryFolder&)>;

  ContractCase(const std::string& plugin, Make make) { cases()[plugin] = std::move(make); }

  /// Returns the case of a plugin. If its folder has none, it is a case without parameters.
  static Case of(const std::string& plugin, const TemporaryFolder& folder) {
    const auto found = cases().find(plugin);
    return found == cases().end() ? Case{} : found->second(folder);
  }

 private:
  /// This is a variable of a function, because the entries are made before main() in no particular order.
  static std::map<std::string, Make>& cases() {
    static std::map<std::string, Make> all;
    return all;
  }
};

}  // namespace trainyard::testing
