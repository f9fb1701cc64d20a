// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "messages/error.h"
#include "viewer/library.h"
#include "web/role.h"

namespace trainyard::viewer {

/// Identifies who asks a question: the role determines what is allowed, and the name is recorded as the author of
/// changes.
struct Asker {
  web::Role role = web::Role::kWatch;
  std::string name;
};

/// Answered receives the result of a question, and Refused the error if the run refuses it. Unless answer_question()
/// throws, exactly one of the two is called, once, on any thread.
using Answered = std::function<void(nlohmann::json result)>;
using Refused = std::function<void(const Error& error)>;

/// Answers one question about the runs of a library, in the form that docs/viewer_protocol.md describes. The caller
/// must handle the questions `hello` and `watch` itself, because they concern the connection. A question that must be
/// passed on to the run is answered later, on another thread.
///
/// Throws kNotFound for an unknown question or run, and if the run does not have the requested data; kInvalidArgument
/// for arguments of the wrong type or out of range, and for changes that the role does not allow; and kUnsupported if
/// the question must be passed on to the run, but the run is not live or too many such questions are already waiting.
void answer_question(Library& library, const Asker& asker, const nlohmann::json& question, const Answered& answered,
                     const Refused& refused);

}  // namespace trainyard::viewer
