// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <string>
#include <vector>

#include "messages/setting.h"

namespace trainyard {

/// The request of the strategy manager's services stop, checkpoint, validate and pause. Users send it with `trainyard
/// service call`, and the launcher sends it, too.
struct RunRequest {
  static constexpr const char* kTypeName = "RunRequest";

  /// The reason for stopping the run, which appears in the log and in the launcher's last message. Used only by the
  /// service `stop`. May be empty.
  std::string reason;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(reason));
  }
};

/// The request of the strategy manager's service go_on, which ends a pause.
struct GoOnRequest {
  static constexpr const char* kTypeName = "GoOnRequest";

  /// The parameters that were changed during the pause, for the log and for checkpoints.
  std::vector<Setting> settings;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(settings));
  }
};

/// The reply to a RunRequest or a GoOnRequest. If the request cannot be carried out, the caller gets an error instead.
struct RunReply {
  static constexpr const char* kTypeName = "RunReply";

  std::string text;  ///< A text for the user, which says what has happened or will happen.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(text));
  }
};

}  // namespace trainyard
