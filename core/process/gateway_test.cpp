// SPDX-License-Identifier: Apache-2.0
#include "core/process/gateway.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/memory/shared_pool.h"
#include "core/testing/pipe.h"
#include "core/testing/temporary_folder.h"

namespace trainyard::core {
namespace {

TEST(GatewayTest, MemoryThatAVisitorHasMadeThePoolTakeIsGivenBack) {
  testing::TemporaryFolder folder;
  zmq::context_t sockets;
  SharedPool pool;
  testing::Pipe pipe;
  ComponentContext context = pipe.context("process 'a'");
  context.pool = &pool;
  Gateway gateway(context, sockets, "ipc://" + folder.path("gateway"),
                  [](const std::string&) { return std::vector<OutputBase*>{}; });
  pool.allocate(4096);
  const std::size_t before = pool.reserved_bytes();
  {
    // A visitor that does not read keeps memory in use that would otherwise be reused.
    std::vector<Buffer> kept;
    for (int i = 0; i < 50; ++i) kept.push_back(pool.allocate(4096));
  }
  for (int i = 0; i < 100; ++i) pool.allocate(4096);
  EXPECT_GT(pool.reserved_bytes(), before);
  pipe.run_until([&] { return pool.reserved_bytes() == before; });
}

}  // namespace
}  // namespace trainyard::core
