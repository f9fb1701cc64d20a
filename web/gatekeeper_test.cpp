// SPDX-License-Identifier: Apache-2.0
#include "web/gatekeeper.h"

#include <gmock/gmock.h>

#include <set>

#include "web/token.h"

namespace trainyard::web {
namespace {

using ::testing::HasSubstr;

const Gatekeeper& keeper() {
  static const Gatekeeper one({"127.0.0.1", "localhost"}, 8080, /*tls=*/false, "control-secret", "watch-secret");
  return one;
}

Approach good() { return {.host = "127.0.0.1:8080", .token = "control-secret"}; }

TEST(TokenTest, Is32RandomBytesThatFitIntoAnAddressAndACookie) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string token = new_token();
    EXPECT_EQ(token.size(), 43u);
    EXPECT_EQ(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
              std::string::npos);
    seen.insert(token);
  }
  EXPECT_EQ(seen.size(), 100u);
}

TEST(TokenTest, ComparesWholeTexts) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
  EXPECT_FALSE(equal_in_constant_time("", "abc"));
}

TEST(GatekeeperTest, FindsTheRoleByTheTokenInAddressCookieOrField) {
  EXPECT_EQ(keeper().judge(good(), false).role, Role::kControl);
  EXPECT_EQ(keeper().judge({.host = "localhost:8080", .token = "watch-secret"}, false).role, Role::kWatch);
  EXPECT_EQ(keeper().judge({.host = "LOCALHOST:8080", .cookie = "a=b; trainyard_8080=control-secret; c=d"}, false).role,
            Role::kControl);
  EXPECT_EQ(keeper().judge({.host = "localhost:8080", .authorization = "Bearer watch-secret"}, false).role,
            Role::kWatch);
}

TEST(GatekeeperTest, RefusesWithoutTheRightToken) {
  for (const char* token : {"", "control-secre", "control-secret ", "Control-secret"}) {
    const Verdict verdict = keeper().judge({.host = "127.0.0.1:8080", .token = token}, false);
    EXPECT_FALSE(verdict.admitted()) << token;
    EXPECT_THAT(verdict.refusal, HasSubstr("token is missing or wrong"));
  }
  for (const char* cookie : {"trainyard_8081=control-secret", "xtrainyard_8080=control-secret",
                             "trainyard_8080=control-secret2", "trainyard_8080", ";;;=", "trainyard_8080="}) {
    EXPECT_FALSE(keeper().judge({.host = "127.0.0.1:8080", .cookie = cookie}, false).admitted()) << cookie;
  }
}

TEST(GatekeeperTest, AWrongTokenIsNotMadeGoodByACookie) {
  Approach approach = good();
  approach.cookie = "trainyard_8080=control-secret";
  approach.token = "wrong";
  EXPECT_FALSE(keeper().judge(approach, false).admitted());
}

TEST(GatekeeperTest, RefusesNamesThatLeadHereWithoutBeingOurs) {
  for (const char* host : {"evil.example:8080", "127.0.0.1", "127.0.0.1:8081", "", "localhost.evil.example:8080",
                           "127.0.0.1:8080.evil.example", "2130706433:8080"}) {
    Approach approach = good();
    approach.host = host;
    const Verdict verdict = keeper().judge(approach, false);
    EXPECT_FALSE(verdict.admitted()) << host;
    EXPECT_THAT(verdict.refusal, HasSubstr("Host"));
  }
}

TEST(GatekeeperTest, RefusesPagesOfOtherSites) {
  for (const char* origin : {"http://evil.example", "null", "https://127.0.0.1:8080", "http://127.0.0.1:8081", "",
                             "http://localhost:8080"}) {
    Approach approach = good();
    approach.origin = origin;
    EXPECT_FALSE(keeper().judge(approach, true).admitted()) << origin;
  }
  Approach approach = good();
  approach.origin = "http://127.0.0.1:8080";
  EXPECT_TRUE(keeper().judge(approach, true).admitted());
}

TEST(GatekeeperTest, APathCanPermitAForeignOrigin) {
  Approach approach = good();
  approach.origin = "https://app.example.org";
  EXPECT_FALSE(keeper().judge(approach, true, {"https://app.example"}).admitted());
  EXPECT_TRUE(keeper().judge(approach, true, {"https://app.example.org"}).admitted());
}

TEST(GatekeeperTest, APathCanPermitEveryPageThatGivesTheTokenItself) {
  Approach approach = good();
  approach.origin = "https://app.example.org";
  EXPECT_TRUE(keeper().judge(approach, true, {"*"}).admitted());
  approach.token = "wrong";
  EXPECT_FALSE(keeper().judge(approach, true, {"*"}).admitted());
  approach.token.clear();
  approach.cookie = "trainyard_8080=control-secret";
  approach.authorization = "Basic secret";
  EXPECT_FALSE(keeper().judge(approach, true, {"*"}).admitted());
}

TEST(GatekeeperTest, AWebSocketWithoutOriginNeedsMoreThanACookie) {
  EXPECT_FALSE(keeper().judge({.host = "127.0.0.1:8080", .cookie = "trainyard_8080=control-secret"}, true).admitted());
  EXPECT_TRUE(keeper().judge(good(), true).admitted());
}

}  // namespace
}  // namespace trainyard::web
