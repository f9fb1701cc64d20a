#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "core/testing/temporary_folder.h"

namespace trainyard::testing {

/// What the plugins of one family need to be tried by its contract test, by the name of the plugin. A plugin that can
/// be made without parameters needs no entry.
///
/// The entry of a plugin lies in the plugin's own folder, in `testing/contract.cpp`, which the build finds by itself:
///
///     const ContractCase<DatasetCase> tokens("tokens", [](const TemporaryFolder& folder) {
///       return DatasetCase{.parameters = ...};
///     });
///
/// `Case` is a struct of the family.
template <class Case>
class ContractCase {
 public:
  /// Makes a case; the files that it needs are written into the folder, which is new for every test.
  using Make = std::function<Case(const TemporaryFolder&)>;

  ContractCase(const std::string& plugin, Make make) { cases()[plugin] = std::move(make); }

  /// The case of a plugin: a case without parameters if its folder has none.
  static Case of(const std::string& plugin, const TemporaryFolder& folder) {
    const auto found = cases().find(plugin);
    return found == cases().end() ? Case{} : found->second(folder);
  }

 private:
  /// A function's own variable, because the entries are made before main() in no certain order.
  static std::map<std::string, Make>& cases() {
    static std::map<std::string, Make> all;
    return all;
  }
};

}  // namespace trainyard::testing
