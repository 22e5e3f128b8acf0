#pragma once
// A PostgreSQL server of a test's own, in a temporary folder, reached by a socket there. Started when first asked for,
// ended with the process.

#include <string>

namespace perfcast::program {

// The address of a new, empty database; empty where there is no server, and then `why` says so.
std::string new_postgres_database(std::string& why);
// Runs SQL in it, as the server's owner.
void run_sql(const std::string& address, const std::string& sql);

}  // namespace perfcast::program
