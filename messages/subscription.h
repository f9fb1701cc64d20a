#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>

namespace trainyard {

/// First word of a subscriber on a data socket. Sent again after a reconnect, since the publisher forgets a connection
/// that broke. Answered by Subscribed. From here on: the protocol of docs/wire_format.md, section 3.
struct Subscribe {
  static constexpr const char* kTypeName = "Subscribe";

  std::uint32_t subscription = 0;      ///< Chosen by the subscriber; comes back in every header.
  std::string topic;                   ///< Full topic name.
  std::uint32_t edge = 0xffff'ffff;    ///< EdgePlan::id, or 2^32 - 1 for a visitor that is not in the plan.
  std::uint64_t fingerprint = 0;       ///< What the subscriber expects; 0 = whatever there is.
  std::string policy = "drop_oldest";  ///< A visitor cannot ask for another.
  std::uint64_t window_messages = 64;  ///< Credits given at the start.
  std::uint64_t window_bytes = 268435456;
  std::string payloads = "none";    ///< "handle", "inline" (the bytes) or "none" (empty frames).
  std::uint32_t process_index = 0;  ///< handle: under which references are counted.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(subscription), CEREAL_NVP(topic), CEREAL_NVP(edge), CEREAL_NVP(fingerprint), CEREAL_NVP(policy),
            CEREAL_NVP(window_messages), CEREAL_NVP(window_bytes), CEREAL_NVP(payloads), CEREAL_NVP(process_index));
  }
};

/// The acknowledgement; the publisher sends nothing of this subscription before it. The schema comes along even when it
/// is refused, so that an error can show both sides.
struct Subscribed {
  static constexpr const char* kTypeName = "Subscribed";

  std::uint32_t subscription = 0;
  std::string topic;
  std::string type;
  std::uint64_t fingerprint = 0;
  std::string schema;  ///< Canonical schema text: enough to decode every message of this subscription.
  std::string error;   ///< Not empty: refused, and why.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(subscription), CEREAL_NVP(topic), CEREAL_NVP(type), CEREAL_NVP(fingerprint), CEREAL_NVP(schema),
            CEREAL_NVP(error));
  }
};

/// The subscriber has handled this much; the publisher may send as much again. Sent at half of a window, so that credit
/// costs a fraction of a message. A publisher never believes more than it has sent.
struct Credit {
  static constexpr const char* kTypeName = "Credit";

  std::uint32_t subscription = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;  ///< Sum of the sizes that the publisher counted: body and payloads.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(subscription), CEREAL_NVP(messages), CEREAL_NVP(bytes));
  }
};

/// The subscriber wants no more. Not answered; what is under way still comes.
struct Unsubscribe {
  static constexpr const char* kTypeName = "Unsubscribe";

  std::uint32_t subscription = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(subscription));
  }
};

/// The publisher asks for all credit that is due, now and after every further message. Sent when its component is being
/// deactivated and must know that everything has been handled, however little of a window that is.
struct Flush {
  static constexpr const char* kTypeName = "Flush";

  std::uint32_t subscription = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(subscription));
  }
};

}  // namespace trainyard
