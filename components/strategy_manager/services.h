#pragma once

#include <cereal/cereal.hpp>
#include <string>

namespace trainyard {

/// What somebody asks of the strategy manager: to stop, to save, to validate.
struct RunRequest {
  static constexpr const char* kTypeName = "RunRequest";

  std::string reason;  ///< For logs and checkpoints; may be empty.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(reason));
  }
};

struct RunReply {
  static constexpr const char* kTypeName = "RunReply";

  std::string text;  ///< What will happen, for people.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(text));
  }
};

}  // namespace trainyard
