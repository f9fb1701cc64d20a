// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launch/plan/catalogue.h"

namespace trainyard::tools::submit {

/// A catalogue of the installed plugins for planning a run on other hosts, whose devices are unknown. It answers as if
/// every accelerator had enough devices, so planning does not check the number of devices, only the accelerators' other
/// rules. `accelerator = "auto"` still means the best accelerator of this machine.
class Elsewhere final : public launch::Catalogue {
 public:
  /// `here` must outlive this object.
  explicit Elsewhere(launch::Catalogue& here) : here_(here) {}

  const core::PluginInfo& info(std::string_view kind, std::string_view name) override { return here_.info(kind, name); }
  std::vector<PluginLabel> list() override { return here_.list(); }
  Answer ask(std::string_view kind, std::string_view name, const std::string& parameters, bool anew) override;

 private:
  launch::Catalogue& here_;
};

}  // namespace trainyard::tools::submit
