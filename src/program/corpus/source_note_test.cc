#include "program/corpus/source_note.h"

#include <gtest/gtest.h>

namespace perfcast::program {
namespace {

TEST(SourceNoteTest, ReadsLicenceCommitAndDate) {
  const SourceNote note = parse_source_note(
      "# Data\n- repository: x  commit 804d3c71ddaec2fb0fe443c77b6719bd03a96072, branch main\n"
      "- License: MIT, by Somebody\n- license: other\n- read: 2026-11-20 from a copy\n");
  EXPECT_EQ(note.commit, "804d3c71ddaec2fb0fe443c77b6719bd03a96072");
  EXPECT_EQ(note.licence, "MIT, by Somebody");
  EXPECT_EQ(note.retrieved_utc, "2026-11-20");
  EXPECT_EQ(versioned_source("set", note), "set@804d3c7");
  EXPECT_EQ(source_kind("set@804d3c7"), "set");
  EXPECT_EQ(source_kind("set"), "set");
  EXPECT_EQ(parse_source_note("- product; read 2026-11-26\n").retrieved_utc, "2026-11-26");
}

TEST(SourceNoteTest, WhatIsNotThereIsEmpty) {
  const SourceNote note = parse_source_note("commit 804d3c7\nread: soon\n");
  EXPECT_EQ(note.commit, "");
  EXPECT_EQ(note.licence, "");
  EXPECT_EQ(note.retrieved_utc, "");
  EXPECT_EQ(versioned_source("set", note), "set");
  EXPECT_EQ(read_source_note("/nonexistent").commit, "");
}

}  // namespace
}  // namespace perfcast::program
