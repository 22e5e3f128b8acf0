#include "ai/cpu_tokens/token_rates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "machine/facts/core_design.h"

namespace perfcast::ai {
namespace {

constexpr const char* kServers =
    "vendor,server,arch,cpu_vendor,cpu_model,cpu_family,model,stepping,vcpus,threads_per_core,cores_per_socket,sockets,"
    "numa_nodes,l2,l3,mem_gib,f_avx2,f_amx,gpu\n"
    "c,one,x86_64,GenuineIntel,Intel(R) Xeon(R) X 1,6.0,143,8,8,2,4.0,1,1,8388608 (4 instances),110100480 (1 instance),"
    "32,1,1,\n"
    "c,gpu,x86_64,GenuineIntel,Intel(R) Xeon(R) X 1,6.0,143,8,8,2,4.0,1,1,,,32,1,1,Tesla T4\n"
    "c,arm,aarch64,ARM,Neoverse-N9,,1,1,4,1,,1,,,,,0,0,\n"
    "c,one,x86_64,GenuineIntel,twice,6.0,143,8,8,2,4.0,1,1,,,32,1,1,\n"
    "c,none,x86_64,GenuineIntel,no vCPUs,6.0,143,8,,2,4.0,1,1,,,32,1,1,\n"
    "c,idle,x86_64,GenuineIntel,no rates,6.0,143,8,2,2,1,1,1,,,32,1,1,\n";
constexpr const char* kRates =
    "vendor,server,bwmem.rd.0.016384MB,bwmem.rd.512.00MB,llm.phi-4-q4.tg16.tps,llm.gemma-2b.Q4_K_M.pp128.tps,"
    "llm.gemma-2b.Q4_K_M.tg128.tps,llm.other.tg16.tps\n"
    "c,one,800000,80000,7.5,120,500,9\n"
    "c,gpu,800000,80000,99,999,99,9\n"
    "c,arm,,,4,0,,\n"
    "c,none,1,1,1,1,1,1\n"
    "c,idle,1,1,,,,\n";

TEST(TokenRates, AllServersThatHaveARow) {
  const auto servers = parse_cpu_servers({kServers, kRates});
  ASSERT_TRUE(servers) << to_text(servers.error());
  std::vector<std::string> names;
  for (const TokenServer& server : *servers) names.push_back(server.name);
  EXPECT_EQ(names, (std::vector<std::string>{"one", "gpu", "arm", "idle"}));  // "none" has no vCPUs
  EXPECT_DOUBLE_EQ(memory_bandwidth((*servers)[1].facts), 80e9);
  EXPECT_EQ(parse_cpu_servers({"vendor\n", kRates}).error().code, "missing-column");
}

TEST(TokenRates, Read) {
  const auto rates = parse_token_rates({kServers, kRates});
  ASSERT_TRUE(rates) << to_text(rates.error());
  ASSERT_EQ(rates->servers.size(), 2U);
  const CpuFacts& one = rates->servers[0].facts;
  EXPECT_EQ(rates->servers[0].cpu, "intel xeon x 1 (6-143)");
  EXPECT_EQ(one.vendor, "Intel");
  EXPECT_EQ(one.vcpus, 8);
  EXPECT_EQ(one.cores, 4);
  EXPECT_EQ(one.l2_bytes, 2097152);
  EXPECT_EQ(one.l3_count, 1);
  EXPECT_EQ(one.flags, (std::set<std::string>{"amx", "avx2"}));
  EXPECT_DOUBLE_EQ(one.read_bytes_per_s[0], 800e9);
  EXPECT_TRUE(std::isnan(one.read_bytes_per_s[1]));
  EXPECT_DOUBLE_EQ(memory_bandwidth(one), 80e9);
  const CpuFacts& arm = rates->servers[1].facts;
  EXPECT_EQ(arm.cores, 4);  // one thread per core, as no cores are told
  EXPECT_EQ(arm.numa_nodes, 1);
  EXPECT_FALSE(arm.l3_bytes);
  EXPECT_FALSE(has_bandwidth(arm));

  // gemma-2b at 500 tokens/s would read 815 GB/s: over 4 times what the machine feeds at 1.63 GB / 8 for each vCPU.
  ASSERT_EQ(rates->rates.size(), 3U);
  EXPECT_EQ(rates->llms[rates->rates[0].llm].name, "phi-4");
  EXPECT_EQ(rates->rates[0].phase, TokenPhase::kGeneration);
  EXPECT_EQ(rates->rates[0].tokens, 16);
  EXPECT_EQ(rates->rates[0].tokens_per_s, 7.5);
  EXPECT_EQ(rates->rates[1].phase, TokenPhase::kPrefill);
  EXPECT_EQ(rates->rates[1].tokens, 128);
  EXPECT_EQ(rates->rates[2].server, 1U);

  std::map<std::string, int64_t> left;
  for (const auto& entry : rates->left_out) left[entry.subject + ": " + entry.reason] = entry.count;
  EXPECT_EQ(left,
            (std::map<std::string, int64_t>{{"rate: generation at over 4 times what the measured bandwidth feeds", 1},
                                            {"rate: no number above 0", 1},
                                            {"server: has a GPU", 1},
                                            {"server: named twice: the first row stays", 1},
                                            {"server: no rate of a language model", 1},
                                            {"server: without a plausible number of vCPUs and cores", 1}}));
}

TEST(TokenRates, BadTables) {
  const auto code = [](const char* servers, const char* rates) {
    const auto result = parse_token_rates({servers, rates});
    return result ? "none" : result.error().code;
  };
  EXPECT_EQ(code("", kRates), "bad-csv");
  EXPECT_EQ(code(kServers, "server\nx\n"), "missing-column");
  EXPECT_EQ(code("vendor,server\na,b\n", kRates), "missing-column");
  EXPECT_EQ(code(kServers, "vendor,server\n"), "none");
  const auto absent = read_token_rates("/nonexistent/folder");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, "file-not-found");
}

TEST(TokenRates, OfTheSharedTables) {
  const std::filesystem::path folder = std::filesystem::path(PERFCAST_SHARED_DATA) / "sparecores";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no folder sparecores in " << PERFCAST_SHARED_DATA;
  const auto rates = read_token_rates(folder.string());
  ASSERT_TRUE(rates) << to_text(rates.error());
  EXPECT_GT(rates->servers.size(), 2000U);
  EXPECT_GT(rates->rates.size(), 60000U);
  for (const TokenServer& server : rates->servers) {
    EXPECT_TRUE(check_cpu_facts(server.facts)) << server.name;
    EXPECT_NE(core_design(server.facts), "unknown") << server.facts.name;
  }
}

}  // namespace
}  // namespace perfcast::ai
