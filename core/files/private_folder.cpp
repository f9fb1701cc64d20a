// SPDX-License-Identifier: Apache-2.0
#include "core/files/private_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "messages/error.h"

namespace trainyard::core {

void require_private_folder(const std::string& folder) {
  struct stat status = {};
  if (::lstat(folder.c_str(), &status) != 0) throw Error(Code::kIo, "{}: {}", folder, std::strerror(errno));
  if (!S_ISDIR(status.st_mode)) throw Error(Code::kIo, "{}: is not a folder; runs need one of that name", folder);
  if (status.st_uid != ::geteuid()) {
    throw Error(Code::kIo, "{}: belongs to user {}, not to user {}; set XDG_RUNTIME_DIR to a folder of your own",
                folder, status.st_uid, ::geteuid());
  }
  // This also applies to a folder that this user owns, because a umask of 0 may have made it writable for others.
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw Error(Code::kIo, "{}: others may write to it (mode {:o}); chmod 700 it", folder, status.st_mode & 07777);
  }
}

void make_private_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    throw Error(Code::kIo, "cannot make the folder {}: {}", folder, std::strerror(errno));
  }
  // A new folder is checked, too, so that nothing depends on who made it.
  require_private_folder(folder);
}

}  // namespace trainyard::core
