// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/component/component.h"
#include "core/keys/allow_list.h"

namespace trainyard {

namespace front_door {
class Reception;
}

/// The component through which visitors, that is, programs such as `trainyard topic echo`, attach to the run from other
/// hosts (docs/keys.md). Each visitor has a key, whose role determines whether the visitor may only watch the run or
/// also change it. The component has no inputs or outputs. It attaches to its own run in the same way as a visitor, so
/// it never delays another component, and its process can be killed and started again during the run.
class FrontDoorComponent final : public Component {
 public:
  static inline const ComponentTraits kTraits{.thread = "front_door"};

  explicit FrontDoorComponent(ComponentContext& context);
  ~FrontDoorComponent() override;

 protected:
  /// Reads the keys and binds the port, so that an error ends the run before training begins. Prints the address and
  /// the fingerprint of the run's key to standard error.
  void on_configure() override;
  void on_activate() override;
  void on_finalize() override;

 private:
  core::AllowList allowed() const;

  Parameter<std::string> address_{*this, "address", "127.0.0.1",
                                  "the IP address to listen at; 0.0.0.0 = all of this host"};
  Parameter<std::int64_t> port_{*this, "port", 7401, "the port to listen at; 0 = a free one", between(0, 65535)};
  Parameter<std::string> key_{*this, "key", "host",
                              "the key by which visitors recognise this run: the name of a key of your own, with the "
                              "role member (trainyard keys new host --role member)"};
  Parameter<std::string> key_file_{*this, "key_file", "", "the file of the key, instead of its name"};
  Parameter<std::vector<std::string>> visitors_{
      *this, "visitors", std::vector<std::string>{},
      "the names of the keys that are admitted, each with the role that `trainyard keys list` shows"};
  Parameter<std::string> allow_list_{*this, "allow_list", "",
                                     "a file with further keys that are admitted: the lines of `trainyard keys show`"};

  std::unique_ptr<front_door::Reception> reception_;
};

}  // namespace trainyard
