// SPDX-License-Identifier: Apache-2.0
// CMakeLists.txt compiles this file with FIELD set to one type after another, and checks which types are refused.
#include "messages/message_type.h"

struct Polymorphic {
  static constexpr const char* kTypeName = "Polymorphic";
  virtual ~Polymorphic() = default;

  template <class Archive>
  void serialize(Archive&) {}
};

struct Empty {
  static constexpr const char* kTypeName = "Empty";

  template <class Archive>
  void serialize(Archive&) {}
};

using FieldType = FIELD;

struct Carrier {
  static constexpr const char* kTypeName = "Carrier";
  FieldType field{};

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(field));
  }
};

const trainyard::MessageType& use() { return trainyard::message_type<Carrier>(); }
