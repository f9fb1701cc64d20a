// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace trainyard::tools::submit::testing {

/// Reads YAML with PyYAML, so that tests check Trainyard's YAML with an independent implementation.
class YamlReader {
 public:
  YamlReader();

  /// Returns why PyYAML cannot be used on this machine, or an empty text if it can be used.
  const std::string& missing() const { return missing_; }

  /// Returns the content of a YAML document as JSON. Fails the test if the text is not valid YAML.
  nlohmann::json read(const std::string& yaml) const;

 private:
  std::string missing_;
};

}  // namespace trainyard::tools::submit::testing
