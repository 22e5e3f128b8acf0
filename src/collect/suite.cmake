# Suites of programs and what runs them.
perfcast_library(suite
  SOURCES slurm_campaign.cc slurm_client.cc suite.cc suite_corpus.cc suite_profile.cc suite_runner.cc suite_tools.cc
  DEPENDS perfcast_collect
  PRIVATE_DEPENDS fmt::fmt)

add_subdirectory(harness)

perfcast_tests(suite SOURCES slurm_campaign_test.cc slurm_client_test.cc suite_test.cc suite_tools_test.cc suite_runner_test.cc)
perfcast_fuzzer(work_report SOURCES fuzz/work_report_fuzz.cc DEPENDS perfcast_suite)
perfcast_fuzzer(slurm_campaign SOURCES fuzz/slurm_campaign_fuzz.cc DEPENDS perfcast_suite)
