// write_synthetic DIR: the small world of synthetic_corpus.h as files, for command-line tests: tiny.db, and profiles of
// programs that the corpus does not hold: tiny.json, failed.json (exit status 3), far.json (unlike all others),
// other-cpu.json (a host that no platform is like).

#include <cstdio>
#include <string>

#include "base/file.h"
#include "base/json.h"
#include "corpus/store/store.h"
#include "evaluate/testing/synthetic_corpus.h"

namespace perfcast {
namespace {

Status write_files(const std::string& folder) {
  const SyntheticOptions world;
  auto store = CorpusStore::open(folder + "/tiny.db");
  if (!store) return store.error();
  if (Status status = (*store)->merge(synthetic_corpus(world)); !status) return status;

  const auto write = [&](const std::string& name, const Profile& profile) {
    return write_file_atomically(folder + "/" + name, to_text(to_json(profile)));
  };
  const Profile profile = synthetic_profile(world, 11);
  if (Status status = write("tiny.json", profile); !status) return status;
  Profile failed = profile;
  failed.exit_code = 3;
  if (Status status = write("failed.json", failed); !status) return status;
  Profile far = profile;
  far.program = "far";
  for (auto& [name, value] : far.metrics) {
    if (name.starts_with("op_fp") || name.starts_with("op_x87") || name.starts_with("miss_")) value *= 300;
  }
  if (Status status = write("far.json", far); !status) return status;
  Profile other = profile;
  other.host.name = "Unknown Vendor CPU";
  other.host.vendor = "CentaurHauls";
  return write("other-cpu.json", other);
}

}  // namespace
}  // namespace perfcast

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: write_synthetic DIR\n", stderr);
    return 2;
  }
  const perfcast::Status status = perfcast::write_files(argv[1]);
  if (!status) std::fprintf(stderr, "%s\n", perfcast::to_text(status.error()).c_str());
  return status ? 0 : 1;
}
