// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "viewer/library.h"
#include "web/server.h"

namespace trainyard::viewer {

/// Specifies what a viewer shows, at which address, and where it sends alerts.
struct ViewerSettings {
  web::Settings server;
  std::string page;     ///< The folder with the files of the page; empty for the page that comes with Trainyard.
  std::string webhook;  ///< An address such as "http://127.0.0.1:9000/alerts" to which alerts are sent; empty for none.
  /// The folder that contains the run directories of launches. Every running launch in it is followed, including
  /// launches that start later. If this is empty, only runs that are added explicitly are shown.
  std::string runs_directory;
  /// Receives alerts and problems, each as a line of text. May be empty.
  std::function<void(const std::string& line)> log;
};

/// Shows runs in browsers. It is a web server that delivers a web page and answers the questions of this page over a
/// WebSocket.
class Viewer {
 public:
  /// Binds the address and reads the page's files. Throws what web::Server and web::Files::of_folder throw, kNotFound
  /// if the page that comes with Trainyard is needed but not installed, and kInvalidArgument if the webhook is not a
  /// valid address.
  explicit Viewer(ViewerSettings settings);
  /// Closes all connections and ends all threads.
  ~Viewer();
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;

  /// Returns the library of the runs that are shown. Runs can be added to it at any time.
  Library& library();
  /// Starts serving browsers.
  void start();
  /// Returns the address at which a browser gets the rights of `role`. It contains the token of the role.
  std::string url(web::Role role) const;
  web::Counters counters() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns the folder of the page that comes with Trainyard, or an empty string if the folder does not exist.
std::string shipped_page();

}  // namespace trainyard::viewer
