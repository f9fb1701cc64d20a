// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <string>
#include <vector>

#include "messages/setting.h"

namespace trainyard {

/// A request to the strategy manager to stop, save or validate. `trainyard service call` or the launcher sends it as
/// JSON.
struct RunRequest {
  static constexpr const char* kTypeName = "RunRequest";

  std::string reason;  ///< Part of the last line of a run that this request stops; ignored otherwise. May be empty.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(reason));
  }
};

/// A request to the strategy manager to end a pause.
struct GoOnRequest {
  static constexpr const char* kTypeName = "GoOnRequest";

  /// The parameters that were changed during the pause, for the log and for checkpoints.
  std::vector<Setting> settings;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(settings));
  }
};

/// The strategy manager's reply to a RunRequest. If the request cannot be carried out, the caller gets an error
/// instead.
struct RunReply {
  static constexpr const char* kTypeName = "RunReply";

  std::string text;  ///< A human-readable description of what will happen.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(text));
  }
};

}  // namespace trainyard
