#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trainyard::core {

/// Where the ranks of a run leave notes for each other before they can communicate in another way: handles of shared
/// memory, addresses, shapes. A note is a key and a few bytes; a key is used once.
///
/// It is for the start of a run, not for its steps, because a note costs a file. Thread-safe.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;

  /// Leaves a note that everybody can read from now on. Throws kInvalidArgument for a key with characters other than
  /// letters, digits, '_', '-', '.' and '/', and kIo if the note cannot be written.
  virtual void put(const std::string& key, const std::string& value) = 0;

  /// Fills `value` with the note. Returns false if it is not there.
  virtual bool find(const std::string& key, std::string& value) const = 0;

  /// Waits for the note and returns it. Throws kTimeout with the key.
  std::string get(const std::string& key, std::chrono::milliseconds timeout) const;
};

/// Keeps notes as files in a folder of the launcher, which is private to the user and is removed with the run. It needs
/// no port and no listener, and leaves nothing behind. It serves the processes of one host.
std::unique_ptr<Rendezvous> make_folder_rendezvous(const std::string& folder);

/// Keeps notes in memory, for ranks that are threads of one program.
std::unique_ptr<Rendezvous> make_local_rendezvous();

/// An all-gather of texts: each of `ranks` leaves one under `key` and receives those of all, in the order of `ranks`. A
/// key serves once per run. Throws kTimeout, naming the ranks that did not come.
std::vector<std::string> exchange(Rendezvous& rendezvous, const std::string& key, std::uint32_t rank,
                                  const std::vector<std::uint32_t>& ranks, const std::string& value,
                                  std::chrono::milliseconds timeout);

}  // namespace trainyard::core
