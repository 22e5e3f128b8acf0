#include "base/http/tls.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "base/file.h"
#include "base/http/http_server.h"

namespace perfcast {
namespace {

// The openssl command makes certificates, and is a client that is not ours.
class Tls : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("openssl version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no openssl command";
    std::string pattern = testing::TempDir() + "perfcast-tls-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    make("a");
    make("b");
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  void make(const std::string& name) const {
    const std::string line =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost "
        "-keyout " +
        path(name + ".key") + " -out " + path(name + ".pem") + " > /dev/null 2>&1";
    ASSERT_EQ(std::system(line.c_str()), 0);
  }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
};

class SecretEcho : public HttpHandler {
 public:
  explicit SecretEcho(std::shared_ptr<const TlsContext> tls) {
    HttpServerOptions options;
    options.tls = std::move(tls);
    auto listening = HttpServer::listen(options, *this);
    EXPECT_TRUE(listening);
    server = std::move(*listening);
    server->start();
  }
  void on_request(uint64_t exchange, HttpRequest request) override {
    server->answer(exchange, 200, "text/plain", request.path == "/long" ? std::string(3'000'000, 'x') : request.body);
  }
  void on_gone(uint64_t) override {}
  std::string body_of_problem(const HttpProblem& problem) override { return problem.words; }

  std::unique_ptr<HttpServer> server;
};

std::string output_of(const std::string& line) {
  std::string text;
  FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 65536> bytes;
  for (size_t count = 0; (count = fread(bytes.data(), 1, bytes.size(), pipe)) > 0;) text.append(bytes.data(), count);
  pclose(pipe);
  return text;
}

TEST_F(Tls, AnswersClients) {
  auto context = TlsContext::load(path("a.pem"), path("a.key"));
  ASSERT_TRUE(context) << to_text(context.error());
  const SecretEcho echo(*context);
  const std::string client = "openssl s_client -quiet -verify_return_error -CAfile " + path("a.pem") +
                             " -connect 127.0.0.1:" + std::to_string(echo.server->port()) + " 2>/dev/null";
  const std::string text = output_of(
      "printf 'POST / HTTP/1.1\\r\\nContent-Length: 5\\r\\n\\r\\nhello"
      "GET /long HTTP/1.1\\r\\nConnection: close\\r\\n\\r\\n' | " +
      client + " -ign_eof");
  EXPECT_NE(text.find("\r\n\r\nhelloHTTP/1.1 200 OK"), std::string::npos) << text.substr(0, 300);
  EXPECT_TRUE(text.ends_with(std::string(3'000'000, 'x'))) << text.size();
}

TEST_F(Tls, DropsWhatIsNoTls) {
  auto context = TlsContext::load(path("a.pem"), path("a.key"));
  ASSERT_TRUE(context);
  const SecretEcho echo(*context);
  const std::string port = std::to_string(echo.server->port());
  EXPECT_EQ(output_of("printf 'GET / HTTP/1.1\\r\\n\\r\\n' | timeout 10 bash -c 'exec 3<>/dev/tcp/127.0.0.1/" + port +
                      "; cat >&3; cat <&3' 2>/dev/null")
                .find("HTTP/1.1 200"),
            std::string::npos);
  const std::string old = output_of("openssl s_client -tls1_1 -connect 127.0.0.1:" + port + " < /dev/null 2>&1");
  EXPECT_EQ(old.find("Cipher is TLS"), std::string::npos);
}

TEST_F(Tls, RefusesFilesThatDoNotFit) {
  const auto missing = TlsContext::load(path("no.pem"), path("a.key"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "bad-certificate");
  EXPECT_EQ(missing.error().where, path("no.pem"));
  EXPECT_FALSE(TlsContext::load(path("a.pem"), path("b.key")));
  EXPECT_FALSE(TlsContext::load(path("a.key"), path("a.key")));
  ASSERT_TRUE(write_file_atomically(path("no.key"), "nothing"));
  EXPECT_FALSE(TlsContext::load(path("a.pem"), path("no.key")));
}

}  // namespace
}  // namespace perfcast
