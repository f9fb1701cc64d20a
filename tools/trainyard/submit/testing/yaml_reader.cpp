// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/submit/testing/yaml_reader.h"

#include <gtest/gtest.h>

#include "core/testing/temporary_folder.h"
#include "launch/plan/child_output.h"

namespace trainyard::tools::submit::testing {
namespace {

constexpr std::chrono::seconds kPatience{60};

}  // namespace

YamlReader::YamlReader() {
  const launch::ChildOutput output = launch::run_child({"python3", "-c", "import yaml"}, kPatience);
  if (!output.succeeded()) missing_ = "python3-yaml is not installed";
}

nlohmann::json YamlReader::read(const std::string& yaml) const {
  const trainyard::testing::TemporaryFolder folder;
  const std::string path = folder.write("document.yaml", yaml);
  const std::string program =
      "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1], encoding='utf-8'))))";
  const launch::ChildOutput output = launch::run_child({"python3", "-c", program, path}, kPatience);
  EXPECT_TRUE(output.succeeded()) << output.failure() << "\n" << yaml;
  return nlohmann::json::parse(output.text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace trainyard::tools::submit::testing
