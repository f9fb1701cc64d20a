// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "viewer/library.h"
#include "web/server.h"

namespace trainyard::viewer {

/// What a viewer shows, where it listens, and who is told about alerts.
struct ViewerSettings {
  web::Settings server;
  std::string page;     ///< The folder of the page's files; empty for the one that comes with Trainyard.
  std::string webhook;  ///< An address such as "http://127.0.0.1:9000/alerts" to which alerts are sent; empty for none.
  /// The folder with the run directories of launches. Every running launch in it is followed, even if it starts later.
  /// If empty, only runs that are added with library() are shown.
  std::string runs_directory;
  std::function<void(const std::string& line)> log;  ///< Receives alerts as lines of text. May be empty.
};

/// Shows runs in browsers. It consists of a server with the page, and of the answers to the page's questions over a
/// WebSocket.
class Viewer {
 public:
  /// Binds the address and reads the page's files. Throws as web::Server and web::Files::of_folder do, and
  /// kInvalidArgument for a webhook that is not an address.
  explicit Viewer(ViewerSettings settings);
  /// Closes all connections and ends all threads.
  ~Viewer();
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;

  /// Returns the runs that are shown. Runs can be added at any time.
  Library& library();
  /// Begins to serve.
  void start();
  /// Returns the address for a role, with its token.
  std::string url(web::Role role) const;
  web::Counters counters() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns the folder of the page that comes with Trainyard, or an empty text if it is not found.
std::string shipped_page();

}  // namespace trainyard::viewer
