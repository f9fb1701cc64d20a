// SPDX-License-Identifier: Apache-2.0
#include "collectives/gloo/store.h"

#include <algorithm>

#include "messages/error.h"

namespace trainyard::collectives {
namespace {

[[noreturn]] void refuse(const char* what) { throw Error(Code::kUnsupported, "a rendezvous of ranks cannot {}", what); }

}  // namespace

NoteStore::NoteStore(core::Rendezvous& notes, std::string prefix, std::chrono::milliseconds timeout)
    : c10d::Store(timeout), notes_(notes), prefix_(std::move(prefix)) {}

void NoteStore::set(const std::string& key, const std::vector<uint8_t>& value) {
  notes_.put(note_of(key), std::string(value.begin(), value.end()));
}

std::vector<uint8_t> NoteStore::get(const std::string& key) {
  const std::string value = notes_.get(note_of(key), timeout_);
  return {value.begin(), value.end()};
}

bool NoteStore::check(const std::vector<std::string>& keys) {
  std::string ignored;
  return std::ranges::all_of(keys, [&](const std::string& key) { return notes_.find(note_of(key), ignored); });
}

void NoteStore::wait(const std::vector<std::string>& keys) { wait(keys, timeout_); }

void NoteStore::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) {
  for (const std::string& key : keys) notes_.get(note_of(key), std::min(timeout, timeout_));
}

int64_t NoteStore::add(const std::string&, int64_t) { refuse("add to a note"); }
bool NoteStore::deleteKey(const std::string&) { refuse("take a note away"); }
int64_t NoteStore::getNumKeys() { refuse("count its notes"); }

// Gloo's keys consist of numbers and slashes. Characters that are not allowed in the names of notes are replaced.
std::string NoteStore::note_of(const std::string& key) const {
  std::string note = prefix_ + key;
  for (char& c : note) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-' && c != '.' && c != '/') c = '_';
  }
  return note;
}

}  // namespace trainyard::collectives
