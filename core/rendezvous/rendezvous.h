// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trainyard::core {

/// A store of notes, which the ranks of a run use to exchange data, such as handles of shared memory, before they can
/// communicate in another way. A note consists of a key and a few bytes. Each key is used only once.
///
/// A rendezvous is meant for the start of a run and not for its steps, because a note can be a file. Thread-safe.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;

  /// Stores a note, which all ranks can then read. Throws kInvalidArgument for a key that is empty or contains
  /// characters other than letters, digits, '_', '-', '.' and '/', and kIo if the note cannot be written.
  virtual void put(const std::string& key, const std::string& value) = 0;

  /// Copies the note stored under `key` into `value` and returns true. If there is no such note, returns false and
  /// leaves `value` unchanged.
  virtual bool find(const std::string& key, std::string& value) const = 0;

  /// Waits for the note under `key` and returns its value. If the note does not exist after `timeout`, throws kTimeout,
  /// naming the key.
  std::string get(const std::string& key, std::chrono::milliseconds timeout) const;
};

/// Returns a rendezvous for the processes of one host. It keeps notes as files in `folder`, which it creates if
/// necessary. In a run, the folder is private to the user and is removed at the end. This rendezvous needs no network
/// port.
std::unique_ptr<Rendezvous> make_folder_rendezvous(const std::string& folder);

/// Returns a rendezvous that keeps notes in memory, for ranks that are threads of one program.
std::unique_ptr<Rendezvous> make_local_rendezvous();

/// Exchanges one text per rank. `rank` is the rank that makes the call, and `value` is its text. Waits until every rank
/// in `ranks` has called the function with the same key, and returns the texts of these ranks in the order of `ranks`.
/// A key may be used for only one exchange in a run. If a text is missing after `timeout`, throws kTimeout, naming the
/// missing ranks.
std::vector<std::string> exchange(Rendezvous& rendezvous, const std::string& key, std::uint32_t rank,
                                  const std::vector<std::uint32_t>& ranks, const std::string& value,
                                  std::chrono::milliseconds timeout);

}  // namespace trainyard::core
