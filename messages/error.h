#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace trainyard {

/// What kind of thing went wrong; decides the exit code and whether a retry makes sense.
enum class Code {
  kInvalidArgument,  ///< A value the user gave is not allowed.
  kNotFound,         ///< A name, file or device does not exist.
  kTypeMismatch,     ///< Two ends disagree about the type of a message or value.
  kShapeMismatch,    ///< Two ends disagree about the shape of a tensor.
  kTimeout,          ///< A deadline passed; the message names who was waited for.
  kPluginLoad,       ///< A plugin's library could not be loaded or threw while it was made.
  kAbiMismatch,      ///< A plugin was built for another ABI tag.
  kCorrupt,          ///< Bytes from a file or a peer break their format.
  kIo,               ///< The operating system refused a file, socket or memory operation.
  kUnsupported,      ///< Allowed in principle, not available here or not yet.
  kPeerLost,         ///< A process or client on the other end is gone.
  kCancelled,        ///< The user asked to stop.
  kInternal,         ///< A broken invariant of Trainyard itself; always a bug.
};

/// The one sentence-less short name of a code: "invalid argument", "timeout", ...
std::string_view name_of(Code code);

/// The one exception type of Trainyard. The message says where, what was given and what is allowed.
class Error : public std::runtime_error {
 public:
  /// `message` as it is, braces and all: for words that come from elsewhere.
  Error(Code code, const std::string& message) : std::runtime_error(message), code_(code) {}

  /// Formats the message: `throw Error(Code::kNotFound, "no file {}", path)`. Only with arguments: a lone string is
  /// never taken for a format, since it may hold the braces of a user's file.
  template <class... Args>
  requires(sizeof...(Args) > 0) Error(Code code, fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)), code_(code) {}

  /// For programs; people read what().
  Code code() const { return code_; }

 private:
  Code code_;
};

}  // namespace trainyard
