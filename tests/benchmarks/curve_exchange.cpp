// SPDX-License-Identifier: Apache-2.0
// Two processes send each other as many bytes at the same time as in an all_reduce of two ranks, through a socket of
// libzmq that encrypts with CURVE. Nothing is added up. hosts.py compares the collective tcp with it. Rank 0 prints the
// median time of an exchange.
//
//     trainyard_benchmark_curve_exchange BYTES REPEATS RANK ADDRESS_OF_RANK_0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>
#include <zmq.hpp>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kPiece = 512 << 10;
// The keys of the examples in the specification of CURVE: public and secret.
constexpr const char* kServer[] = {"rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7",
                                   "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"};
constexpr const char* kClient[] = {"Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID",
                                   "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"};

void connect(zmq::socket_t& socket, int rank, const std::string& address) {
  const std::string endpoint = "tcp://" + address + ":29874";
  socket.set(zmq::sockopt::curve_secretkey, rank == 0 ? kServer[1] : kClient[1]);
  if (rank == 0) {
    socket.set(zmq::sockopt::curve_server, true);
    socket.bind(endpoint);
  } else {
    socket.set(zmq::sockopt::curve_publickey, kClient[0]);
    socket.set(zmq::sockopt::curve_serverkey, kServer[0]);
    socket.connect(endpoint);
  }
}

/// Sends all bytes and receives as many. The bytes are not copied before they are encrypted.
void exchange(zmq::socket_t& socket, std::vector<char>& bytes) {
  for (std::size_t begin = 0; begin < bytes.size(); begin += kPiece) {
    zmq::message_t piece(
        bytes.data() + begin, std::min(kPiece, bytes.size() - begin), [](void*, void*) {}, nullptr);
    socket.send(piece, zmq::send_flags::none);
  }
  zmq::message_t arrived;
  for (std::size_t received = 0; received < bytes.size(); received += arrived.size()) {
    if (!socket.recv(arrived)) std::exit(1);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) return 2;
  std::vector<char> bytes(std::stoul(words[1]), 'x');
  const int repeats = std::stoi(words[2]), rank = std::stoi(words[3]);
  zmq::context_t context;
  zmq::socket_t socket(context, zmq::socket_type::pair);
  connect(socket, rank, words[4]);
  std::vector<Clock::duration> times;
  for (int i = 0; i <= repeats; ++i) {
    const auto begin = Clock::now();
    exchange(socket, bytes);
    if (i > 0) times.push_back(Clock::now() - begin);  // The first one includes the handshake.
  }
  std::ranges::sort(times);
  if (rank == 0) {
    fmt::print("{{\"name\": \"exchange through CURVE\", \"median_ns\": {}}}\n",
               std::chrono::nanoseconds(times[times.size() / 2]).count());
  }
}
