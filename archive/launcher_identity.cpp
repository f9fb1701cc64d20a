// SPDX-License-Identifier: Apache-2.0
#include "archive/launcher_identity.h"

#include <unistd.h>

#include <fstream>

#include "core/process/start_ticks.h"

namespace trainyard::archive {

namespace {

std::string host_name() {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  return host;
}

std::string boot_id() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

}  // namespace

LauncherIdentity this_process() { return {host_name(), boot_id(), ::getpid(), core::start_ticks(::getpid())}; }

Launcher find_launcher(const LauncherIdentity& launcher) {
  if (launcher.host != host_name()) return Launcher::kElsewhere;
  const bool alive = launcher.boot == boot_id() && launcher.start_ticks != 0 &&
                     core::start_ticks(launcher.pid) == launcher.start_ticks;
  return alive ? Launcher::kAlive : Launcher::kDead;
}

}  // namespace trainyard::archive
