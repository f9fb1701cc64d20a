// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace trainyard {

/// The kind of an error. Programs use it to choose an exit code or to decide whether a retry makes sense.
enum class Code {
  kInvalidArgument,  ///< A value that the user gave is not allowed.
  kNotFound,         ///< A name, file or device does not exist.
  kTypeMismatch,     ///< A message or value does not have the type that its receiver expects.
  kShapeMismatch,    ///< A tensor or other data does not have the expected size, or ranks called different operations.
  kTimeout,          ///< An event did not occur before a deadline. The text of the error names the event.
  kPluginLoad,       ///< A plugin's library could not be loaded, or the plugin's constructor threw an exception.
  kAbiMismatch,      ///< A plugin was built with another version of Trainyard, the compiler or LibTorch.
  kCorrupt,          ///< Bytes from a file or a peer do not follow their format.
  kIo,               ///< A call to the operating system or to a library failed.
  kUnsupported,      ///< A feature is not available in this build or on this machine, or is not implemented yet.
  kPeerLost,         ///< A process or client that this process communicates with has ended.
  kCancelled,        ///< The user asked to stop.
  kInternal,         ///< An invariant of Trainyard itself is broken; this is always a bug.
};

/// Returns the short name of a code: "invalid argument", "timeout", ...
std::string_view name_of(Code code);

/// The exception type of all errors that Trainyard reports. The text, what(), states where the error occurred, what was
/// given and what is allowed.
class Error : public std::runtime_error {
 public:
  /// Uses `message` as the text, even if it contains braces. Use this constructor for text that comes from a file, a
  /// user or another program.
  Error(Code code, const std::string& message) : std::runtime_error(message), code_(code) {}

  /// Formats the text, as in `throw Error(Code::kNotFound, "no file {}", path)`. At least one argument is required. A
  /// single string is never treated as a format, because it may contain braces from a user's file.
  template <class... Args>
  requires(sizeof...(Args) > 0) Error(Code code, fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)), code_(code) {}

  /// Returns the kind of the error, for programs. The human-readable text is what().
  Code code() const { return code_; }

 private:
  Code code_;
};

}  // namespace trainyard
