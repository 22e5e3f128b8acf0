#include "program/corpus/testing/postgres_server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

namespace perfcast::program {
namespace {

// The newest version's, as Debian puts them.
std::string programs_folder() {
  std::vector<std::string> found;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", none)) {
    if (std::filesystem::exists(entry.path() / "bin/initdb")) found.push_back(entry.path() / "bin");
  }
  return found.empty() ? "" : *std::max_element(found.begin(), found.end());
}

class PostgresServer {
 public:
  PostgresServer() {
    const std::string programs = programs_folder();
    const passwd* const user = ::getuid() == 0 ? ::getpwnam("postgres") : ::getpwuid(::getuid());
    if (programs.empty() || user == nullptr) {
      why_ = "there is no PostgreSQL server here (Debian's package postgresql)";
      return;
    }
    name_ = user->pw_name;
    std::string pattern = "/tmp/perfcast-postgres-XXXXXX";  // the path of a socket is short
    folder_ = ::mkdtemp(pattern.data());
    EXPECT_EQ(::chown(folder_.c_str(), user->pw_uid, user->pw_gid), 0);
    const auto start = [&](const std::string& command) {
      const pid_t child = ::fork();
      if (child != 0) return child;
      // A server that outlives its test would stay for ever: the group is ended as a whole.
      ::setpgid(0, 0);
      if (::chdir(folder_.c_str()) != 0) ::_exit(126);
      if (::getuid() == 0 && (::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0)) ::_exit(126);
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    };
    int state = 0;
    ::waitpid(start(programs + "/initdb -D data --auth=trust --encoding=UTF8 --no-sync >initdb.log 2>&1"), &state, 0);
    EXPECT_EQ(state, 0) << "initdb failed";
    child_ = start("exec " + programs + "/postgres -D data -k " + folder_ +
                   " -c listen_addresses= -c fsync=off >server.log 2>&1");
    for (int i = 0; i < 600; ++i) {
      if (PQping(address("postgres").c_str()) == PQPING_OK) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ADD_FAILURE() << "the server did not begin";
  }
  ~PostgresServer() {
    if (child_ > 0) {
      ::kill(child_, SIGQUIT);
      ::waitpid(child_, nullptr, 0);
    }
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  const std::string& why() const { return why_; }
  std::string address(const std::string& database) const {
    return fmt::format("postgresql:///{}?host={}&user={}", database, folder_, name_);
  }

 private:
  std::string why_, folder_, name_;
  pid_t child_ = -1;
};

const PostgresServer& server() {
  static const PostgresServer kServer;
  return kServer;
}

}  // namespace

void run_sql(const std::string& address, const std::string& sql) {
  const std::unique_ptr<PGconn, void (*)(PGconn*)> connection(PQconnectdb(address.c_str()), PQfinish);
  const std::unique_ptr<PGresult, void (*)(PGresult*)> done(PQexec(connection.get(), sql.c_str()), PQclear);
  const ExecStatusType status = PQresultStatus(done.get());
  ASSERT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) << PQerrorMessage(connection.get());
}

std::string new_postgres_database(std::string& why) {
  static int databases = 0;
  why = server().why();
  if (!why.empty()) return "";
  const std::string name = "test" + std::to_string(++databases);
  run_sql(server().address("postgres"), "CREATE DATABASE " + name);
  return server().address(name);
}

}  // namespace perfcast::program
