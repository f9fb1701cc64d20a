// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace trainyard::tools::submit::testing {

/// Reads YAML with PyYAML, which is independent of the code that writes YAML in Trainyard.
class YamlReader {
 public:
  YamlReader();

  /// Returns why YAML cannot be read on this machine; empty if it can be read.
  const std::string& missing() const { return missing_; }

  /// Returns the content of a YAML document as JSON. Fails the test if the text is not valid YAML.
  nlohmann::json read(const std::string& yaml) const;

 private:
  std::string missing_;
};

}  // namespace trainyard::tools::submit::testing
