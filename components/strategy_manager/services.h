#pragma once

#include <cereal/cereal.hpp>
#include <string>

namespace trainyard {

/// What somebody asks of the strategy manager: to stop, to save, to validate. Reaches it as JSON, by `trainyard service
/// call` or the launcher.
struct RunRequest {
  static constexpr const char* kTypeName = "RunRequest";

  std::string reason;  ///< For logs and checkpoints; may be empty.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(reason));
  }
};

/// What the strategy manager makes of a RunRequest. That something cannot be done is an error, not a reply.
struct RunReply {
  static constexpr const char* kTypeName = "RunReply";

  std::string text;  ///< What will happen, for people.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(text));
  }
};

}  // namespace trainyard
