// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "collectives/collective.h"
#include "collectives/testing/ranks.h"
#include "core/plugin/loader.h"
#include "streams/handshake.h"
#include "streams/network.h"
#include "streams/record.h"

// Tests with an attacker between two ranks, who sees all data and can change, repeat, reorder or drop it.

namespace trainyard::tcp {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using Blob = std::vector<char>;

constexpr std::size_t kFromConnecting = sizeof(streams::Hello) + sizeof(streams::Confirmation);

bool read_whole(int fd, char* to, std::size_t size) {
  while (size > 0) {
    pollfd item{fd, POLLIN, 0};
    ::poll(&item, 1, 10'000);
    const auto got = ::recv(fd, to, size, 0);
    if (got <= 0) return false;
    to += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_whole(int fd, const char* from, std::size_t size) {
  while (size > 0) {
    const auto sent = ::send(fd, from, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) {
      pollfd item{fd, POLLOUT, 0};
      ::poll(&item, 1, 10'000);
      continue;
    }
    if (sent <= 0) return false;
    from += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

/// Called for each encrypted record that the connecting rank sends over stream `stream`; `number` counts the records
/// from 0. `record` includes the length of the record. The function returns the bytes that are sent instead, or nothing
/// to close the connection.
using Attack = std::function<std::optional<Blob>(std::uint32_t stream, std::uint64_t number, const Blob& record)>;

/// A proxy through which all connections between the two ranks pass.
class Attacker {
 public:
  Attacker(std::string endpoint, bool sealed, Attack attack)
      : endpoint_(std::move(endpoint)), sealed_(sealed), attack_(std::move(attack)), thread_([this] { accept(); }) {}
  ~Attacker() {
    stop_ = true;
    thread_.join();
    for (std::thread& thread : threads_) thread.join();
  }

  const std::string& endpoint() const { return listener_.endpoint(); }

 private:
  void accept() {
    while (!stop_) {
      pollfd item{listener_.fd(), POLLIN, 0};
      ::poll(&item, 1, 20);
      std::string from;
      streams::Socket inner = listener_.accept(from);
      if (inner.empty()) continue;
      auto pair = std::make_shared<std::pair<streams::Socket, streams::Socket>>(std::move(inner),
                                                                                streams::connect_to(endpoint_));
      threads_.emplace_back([this, pair] { pass_records(pair->first.fd(), pair->second.fd()); });
      threads_.emplace_back([this, pair] { pass(pair->second.fd(), pair->first.fd()); });
    }
  }

  void pass_records(int from, int to) {
    Blob greeting(kFromConnecting);
    streams::Hello hello;
    bool cut = false;
    bool goes_on = read_whole(from, greeting.data(), sizeof hello) && write_whole(to, greeting.data(), sizeof hello) &&
                   read_whole(from, greeting.data() + sizeof hello, sizeof(streams::Confirmation)) &&
                   write_whole(to, greeting.data() + sizeof hello, sizeof(streams::Confirmation));
    std::memcpy(&hello, greeting.data(), sizeof hello);
    for (std::uint64_t number = 0; goes_on; ++number) {
      std::uint32_t length = 0;
      if (!read_whole(from, reinterpret_cast<char*>(&length), sizeof length)) break;
      Blob record(sizeof length + length + (sealed_ ? streams::kTagBytes : 0));
      std::memcpy(record.data(), &length, sizeof length);
      if (!read_whole(from, record.data() + sizeof length, record.size() - sizeof length)) break;
      const std::optional<Blob> instead = attack_(hello.route.stream, number, record);
      cut = !instead;
      goes_on = instead && write_whole(to, instead->data(), instead->size());
    }
    end(from, to, cut);
  }

  // If one direction ends, only this direction is closed, unless the attacker cuts the whole connection.
  static void end(int from, int to, bool cut) {
    ::shutdown(from, cut ? SHUT_RDWR : SHUT_RD);
    ::shutdown(to, cut ? SHUT_RDWR : SHUT_WR);
  }

  static void pass(int from, int to) {
    char bytes[4096];
    for (;;) {
      pollfd item{from, POLLIN, 0};
      ::poll(&item, 1, 10'000);
      const auto got = ::recv(from, bytes, sizeof bytes, 0);
      if (got <= 0 || !write_whole(to, bytes, static_cast<std::size_t>(got))) break;
    }
    end(from, to, false);
  }

  const std::string endpoint_;
  const bool sealed_;
  const Attack attack_;
  streams::Listener listener_{"127.0.0.1", {}};
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> threads_;
  std::thread thread_;
};

/// A rendezvous that replaces the address of rank 0 by that of the attacker.
class Notes final : public core::Rendezvous {
 public:
  Notes(core::Rendezvous& inner, bool sealed, const Attack& attack) : inner_(inner), sealed_(sealed), attack_(attack) {}

  void put(const std::string& key, const std::string& value) override { inner_.put(key, value); }
  bool find(const std::string& key, std::string& value) const override {
    if (!inner_.find(key, value)) return false;
    if (key != "world/tcp.endpoints.0") return true;
    if (!attacker_) attacker_ = std::make_unique<Attacker>(value, sealed_, attack_);
    value = attacker_->endpoint();
    return true;
  }

 private:
  core::Rendezvous& inner_;
  const bool sealed_;
  const Attack attack_;
  mutable std::unique_ptr<Attacker> attacker_;
};

constexpr std::uint64_t kCount = 200'000;

/// Two ranks, between which there is an attacker, compute a sum: all elements are 1 on rank 0 and 2 on rank 1. Returns
/// how the ranks ended.
std::vector<testing::RankEnd> add_under(const Attack& attack, bool encrypt = true) {
  return testing::run_threads(2, [&](std::uint32_t rank, core::Rendezvous& notes) {
    Notes changed(notes, encrypt, attack);
    core::PluginLoader plugins(core::PluginLoader::default_directories());
    CollectiveContext context;
    context.where = "the test";
    context.plugins = &plugins;
    context.rank = rank;
    context.rendezvous = &notes;
    if (rank == 1) context.rendezvous = &changed;
    context.name = "world";
    context.ranks = {0, 1};
    context.timeout = 20s;
    const auto world = make_collective(
        {"tcp", fmt::format(R"({{"streams": 1, "record_bytes": 65536, "encrypt": {}}})", encrypt)}, context);
    std::vector<float> values(kCount, rank == 0 ? 1.F : 2.F);
    try {
      for (int i = 0; i < 3; ++i) {
        std::ranges::fill(values, rank == 0 ? 1.F : 2.F);
        world->all_reduce({values.data(), DType::kFloat32, kCount}, ReduceOp::kSum).wait();
      }
    } catch (const Error&) {
      // Rank 0 must not have used data that was not authentic.
      const auto is_known = [](float value) { return value == 1.F || value == 2.F || value == 3.F; };
      if (rank == 0) {
        EXPECT_TRUE(std::ranges::all_of(values, is_known));
      }
      throw;
    }
    if (std::ranges::any_of(values, [](float value) { return value != 3.F; }))
      throw Error(Code::kInternal, "wrong sum");
    return "";
  });
}

Blob joined(const Blob& a, const Blob& b) {
  Blob both = a;
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

TEST(TcpAttackTest, AnHonestManInTheMiddleChangesNothing) {
  const auto ends = add_under([](std::uint32_t, std::uint64_t, const Blob& record) { return record; });
  for (const testing::RankEnd& end : ends) EXPECT_TRUE(end.returned) << end.text;
}

TEST(TcpAttackTest, RecordsThatAreNotAuthenticAreRefusedWithTheNameOfTheStream) {
  Blob first, held;
  const struct {
    const char* what;
    Attack attack;
  } cases[] = {
      {"a flipped bit",
       [](std::uint32_t stream, std::uint64_t number, const Blob& record) {
         Blob changed = record;
         if (stream == 1 && number == 0) changed[1000] = static_cast<char>(changed[1000] ^ 4);
         return changed;
       }},
      {"a flipped bit of the tag",
       [](std::uint32_t stream, std::uint64_t number, const Blob& record) {
         Blob changed = record;
         if (stream == 1 && number == 0) changed.back() = static_cast<char>(changed.back() ^ 1);
         return changed;
       }},
      {"another length",
       [](std::uint32_t stream, std::uint64_t number, const Blob& record) {
         Blob changed = record;
         if (stream == 1 && number == 0) changed[2] = 0x7f;
         return changed;
       }},
      {"a repeated record",
       [](std::uint32_t stream, std::uint64_t number, const Blob& record) {
         return stream == 1 && number == 0 ? joined(record, record) : record;
       }},
      {"two records in another order",
       [&held](std::uint32_t stream, std::uint64_t number, const Blob& record) {
         if (stream != 1 || number > 1) return record;
         if (number == 1) return joined(record, held);
         held = record;
         return Blob{};
       }},
      {"a record of an operation before",
       [&first](std::uint32_t stream, std::uint64_t number, const Blob& record) {
         if (stream == 1 && number == 0) first = record;
         const bool replace = stream == 1 && number == 14 && first.size() == record.size();
         return replace ? first : record;
       }},
      {"a flipped bit of what members tell each other",
       [](std::uint32_t stream, std::uint64_t number, const Blob& record) {
         Blob changed = record;
         if (stream == 0 && number == 1) changed[10] = static_cast<char>(changed[10] ^ 1);
         return changed;
       }},
      {"a repeated frame",
       [](std::uint32_t stream, std::uint64_t number, const Blob& record) {
         return stream == 0 && number == 1 ? joined(record, record) : record;
       }},
      {"a frame that says it has gigabytes",
       [](std::uint32_t stream, std::uint64_t number, const Blob& record) {
         Blob changed = record;
         if (stream == 0 && number == 1) changed[3] = 0x7f;
         return changed;
       }},
  };
  for (const auto& one : cases) {
    const auto ends = add_under(one.attack);
    for (const testing::RankEnd& end : ends) {
      EXPECT_FALSE(end.returned) << one.what;
      EXPECT_EQ(end.code, Code::kCorrupt) << one.what << ": " << end.text;
      EXPECT_THAT(end.text, AllOf(HasSubstr("stream "), HasSubstr(" of rank 1: "),
                                  AnyOf(HasSubstr(" is not authentic: "), HasSubstr(" has another length"),
                                        HasSubstr(" bytes; allowed are at most "))))
          << one.what;
    }
  }
}

TEST(TcpAttackTest, AStreamThatIsCutNamesTheRank) {
  for (const std::uint32_t cut : {0u, 1u}) {
    const auto ends = add_under([cut](std::uint32_t stream, std::uint64_t number, const Blob& record) {
      return stream == cut && number == 2 ? std::optional<Blob>() : record;
    });
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      EXPECT_EQ(ends[rank].code, Code::kPeerLost) << ends[rank].text;
      EXPECT_THAT(ends[rank].text, AllOf(HasSubstr("rank "), HasSubstr(" is gone"))) << rank;
    }
  }
}

TEST(TcpAttackTest, ElementsAreInClearOnlyIfAskedFor) {
  for (const bool encrypt : {true, false}) {
    std::mutex mutex;
    bool seen = false;
    std::array<float, 8> marker;
    marker.fill(2.F);  // The data that rank 1 sends.
    const auto ends = add_under(
        [&](std::uint32_t, std::uint64_t, const Blob& record) {
          const auto* bytes = reinterpret_cast<const char*>(marker.data());
          const std::lock_guard lock(mutex);
          seen |= std::search(record.begin(), record.end(), bytes, bytes + sizeof marker) != record.end();
          return record;
        },
        encrypt);
    for (const testing::RankEnd& end : ends) EXPECT_TRUE(end.returned) << end.text;
    EXPECT_EQ(seen, !encrypt);
  }
}

}  // namespace
}  // namespace trainyard::tcp
