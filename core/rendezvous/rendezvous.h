#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trainyard {

/// Where the ranks of a run leave notes for each other before they can talk in another way: handles of shared memory,
/// addresses, shapes. A note is a key and a few bytes; a key is used once.
///
/// For the start of a run, not for its steps: a note costs a file. Thread-safe.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;

  /// Leaves a note that everybody can read from now on. Throws kInvalidArgument for a key with other characters than
  /// letters, digits, '_', '-', '.' and '/', kIo if it cannot be written.
  virtual void put(const std::string& key, const std::string& value) = 0;

  /// The note, if it is there.
  virtual bool find(const std::string& key, std::string& value) const = 0;

  /// The note; waits for it. Throws kTimeout with the key.
  std::string get(const std::string& key, std::chrono::milliseconds timeout) const;
};

/// Notes as files in a folder of the launcher, which is private to the user and goes with the run: no port to choose,
/// nothing to listen to, nothing left behind. Serves processes of one host.
std::unique_ptr<Rendezvous> make_folder_rendezvous(const std::string& folder);

/// Notes in memory, for ranks that are threads of one program.
std::unique_ptr<Rendezvous> make_local_rendezvous();

/// An all-gather of texts: each of `ranks` leaves one under `key` and gets those of all, in the order of `ranks`. Every
/// key once a run. Throws kTimeout naming those that did not come.
std::vector<std::string> exchange(Rendezvous& rendezvous, const std::string& key, std::uint32_t rank,
                                  const std::vector<std::uint32_t>& ranks, const std::string& value,
                                  std::chrono::milliseconds timeout);

}  // namespace trainyard
