// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/slow_links.h"

#include <algorithm>
#include <utility>

#include "streams/network.h"
#include "streams/sending.h"

namespace trainyard::tcp {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenLooks = 1s;
/// A speed is judged when the network has been the limit for this long. A pause of the network, such as one in which a
/// lost packet is sent again, is shorter.
constexpr auto kShortest = 2s;
/// Links that are slower, in bits per second, are reported. Even old local networks are faster.
constexpr double kSlow = 10e6;

}  // namespace

SlowLinks::SlowLinks(const Links& links, std::vector<std::uint32_t> ranks, std::shared_ptr<spdlog::logger> log)
    : links_(links),
      ranks_(std::move(ranks)),
      log_(std::move(log)),
      judged_(links.size()),
      next_look_(Clock::now() + kBetweenLooks) {}

void SlowLinks::look() {
  const auto now = Clock::now();
  if (now < next_look_ || log_ == nullptr) return;
  next_look_ = now + kBetweenLooks;
  for (std::uint32_t member = 0; member < links_.size(); ++member) judge(member);
}

// The streams of a link send at the same time, so their bytes count together, and the longest of their times. Pings and
// small operations do not count. They are not limited by the speed of the network but by the length of a round trip.
void SlowLinks::judge(std::uint32_t member) {
  streams::Sending all;
  for (const auto& stream : links_.with(member).data) {
    const streams::Sending one = streams::sending_of(stream->connection());
    all.bytes += one.bytes;
    all.limited_by_network = std::max(all.limited_by_network, one.limited_by_network);
    all.round_trip = std::max(all.round_trip, one.round_trip);
  }
  Judged& before = judged_[member];
  const auto time = all.limited_by_network - before.time;
  if (time < kShortest) return;
  const double seconds = std::chrono::duration<double>(time).count();
  const double speed = 8 * static_cast<double>(all.bytes - before.bytes) / seconds;
  if (speed < kSlow && !before.slow) {
    log_->warn(
        "the network from rank {} to rank {} at {} is slow: {:.2f} Mbit/s during {:.1f} s of sending, {:.0f} ms for a "
        "round trip; the steps wait for it",
        ranks_[links_.own()], ranks_[member], streams::address_of_other(links_.with(member).data.front()->connection()),
        speed / 1e6, seconds, std::chrono::duration<double, std::milli>(all.round_trip).count());
  }
  before = {all.bytes, all.limited_by_network, speed < kSlow};
}

}  // namespace trainyard::tcp
