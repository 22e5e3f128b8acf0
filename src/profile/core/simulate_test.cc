#include "profile/core/simulate.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/random.h"

namespace perfcast {
namespace {

constexpr uint32_t kRuns = 4000;

// A core with round numbers.
CoreDesign round_core() {
  CoreDesign design;
  design.name = "example";
  design.width = 4;
  design.taken_branches_cycles = 1;
  design.op_cache_instructions = 1536;
  design.decode_width = 4;
  design.fetch_bytes = 16;
  design.btb_entries = 512;
  design.btb_miss_cycles = 3;
  design.window = 200;
  design.scheduler = 100;
  design.load_queue = 60;
  design.store_queue = 40;
  design.mispredict_cycles = 15;
  design.vector_bytes = 16;
  design.ports = {4, 2, 1, 2, 3, 2, 2, 1, 2, 1, 3, false};
  for (CoreOpCost& cost : design.ops) cost = {1, 1};
  design.ops[static_cast<size_t>(CoreOp::kMultiply)] = {3, 1};
  design.ops[static_cast<size_t>(CoreOp::kDivide64)] = {40, 20};
  design.ops[static_cast<size_t>(CoreOp::kFloatAdd)] = {4, 1};
  design.l1i_bytes = 32768;
  design.l1d_bytes = 32768;
  design.l2_bytes = 1 << 20;
  design.l3_bytes = 32 << 20;
  design.l1d_cycles = 5;
  design.l1d_vector_cycles = 6;
  design.l2_cycles = 14;
  design.l3_cycles = 50;
  design.forward_cycles = 5;
  design.mirror_cycles = 5;
  design.misses = 10;
  design.tlb_entries = 1536;
  design.tlb_miss_cycles = 7;
  design.page_walk_cycles = 30;
  design.memory_ns = 100;
  design.line_ns = 1;
  design.clock_hz = 2e9;
  return design;
}

CoreInstruction op(CoreOp kind, const std::vector<uint8_t>& sources, const std::vector<uint8_t>& results) {
  CoreInstruction one;
  one.op = kind;
  one.sources = static_cast<uint8_t>(sources.size());
  one.results = static_cast<uint8_t>(results.size());
  size_t at = 0;
  for (const uint8_t source : sources) one.registers[at++] = source;
  for (const uint8_t result : results) one.registers[at++] = result;
  return one;
}

CoreInstruction load(const std::vector<uint8_t>& addresses, const std::vector<uint8_t>& results) {
  CoreInstruction one = op(CoreOp::kNothing, {}, {});
  one.loads = 1;
  one.addresses = static_cast<uint8_t>(addresses.size());
  one.results = static_cast<uint8_t>(results.size());
  size_t at = 0;
  for (const uint8_t address : addresses) one.registers[at++] = address;
  for (const uint8_t result : results) one.registers[at++] = result;
  return one;
}

// One block, executed kRuns times; `access` and `step` may change what an execution does.
DecodedProcess loop(std::vector<CoreInstruction> body, const std::function<void(uint32_t, CoreStep&)>& change = {},
                    const std::function<std::vector<CoreAccess>(uint32_t)>& accesses = {}) {
  DecodedProcess process;
  process.instructions = std::move(body);
  process.blocks = {{0x1000, 32, 0, static_cast<uint32_t>(process.instructions.size())}};
  DecodedPiece piece;
  for (uint32_t run = 0; run < kRuns; ++run) {
    CoreStep step;
    step.accesses = static_cast<uint32_t>(piece.accesses.size());
    if (change) change(run, step);
    if (accesses) {
      for (const CoreAccess& access : accesses(run)) piece.accesses.push_back(access);
    }
    piece.steps.push_back(step);
  }
  piece.instructions_count = uint64_t{kRuns} * process.instructions.size();
  piece.stands_for_count = 10.0 * static_cast<double>(piece.instructions_count);
  process.pieces = {piece};
  return process;
}

double cycles_per_run(const DecodedProcess& process, const CoreDesign& design = round_core()) {
  const CoreResult result = simulate_core(process, design);
  double sum = 0;
  for (const double cycles : result.cycles_by_bound) sum += cycles;
  EXPECT_NEAR(sum, result.cycles, 1e-6 * result.cycles);
  return result.cycles / 10 / kRuns;
}

CoreAccess at(uint64_t address, uint32_t held_kib) {
  CoreAccess access;
  access.address = address;
  access.bytes = 8;
  access.held_kib = held_kib;
  return access;
}

double share(const CoreResult& result, CoreBound bound) {
  return result.cycles_by_bound[static_cast<size_t>(bound)] / result.cycles;
}

TEST(SimulateCore, AChainTakesItsLatencies) {
  EXPECT_NEAR(cycles_per_run(loop({op(CoreOp::kAlu, {1}, {1})})), 1, 0.01);
  EXPECT_NEAR(cycles_per_run(loop({op(CoreOp::kMultiply, {1}, {1})})), 3, 0.01);
  EXPECT_NEAR(cycles_per_run(loop({op(CoreOp::kMultiply, {1}, {1}), op(CoreOp::kAlu, {1}, {1})})), 4, 0.01);
  EXPECT_NEAR(cycles_per_run(loop({op(CoreOp::kDivide64, {1}, {1})})), 40, 0.1);
}

TEST(SimulateCore, IndependentWorkIsBoundByWidthPortsAndUnits) {
  EXPECT_NEAR(cycles_per_run(loop({op(CoreOp::kAlu, {}, {1})})), 0.25, 0.01);
  EXPECT_NEAR(cycles_per_run(loop({op(CoreOp::kShift, {}, {1})})), 0.5, 0.01);
  EXPECT_NEAR(cycles_per_run(loop({op(CoreOp::kMultiply, {}, {1})})), 1, 0.01);
  EXPECT_NEAR(cycles_per_run(loop({op(CoreOp::kDivide64, {}, {1})})), 20, 0.1);
  EXPECT_NEAR(cycles_per_run(loop({op(CoreOp::kFloatAdd, {}, {40})})), 0.5, 0.01);
  CoreInstruction wide = op(CoreOp::kFloatAdd, {}, {40});
  wide.vector_bytes = 64;
  EXPECT_NEAR(cycles_per_run(loop({wide})), 2, 0.01);
}

TEST(SimulateCore, CyclesArePutDownToWhatHeldThemUp) {
  const auto of = [](CoreInstruction one, CoreBound bound) {
    return share(simulate_core(loop({one}), round_core()), bound);
  };
  EXPECT_GT(of(op(CoreOp::kAlu, {}, {1}), CoreBound::kWidth), 0.95);
  EXPECT_GT(of(op(CoreOp::kAlu, {1}, {1}), CoreBound::kInteger), 0.95);
  EXPECT_GT(of(op(CoreOp::kFloatAdd, {40}, {40}), CoreBound::kFloat), 0.95);
  EXPECT_GT(of(op(CoreOp::kDivide64, {1}, {1}), CoreBound::kDivide), 0.95);
  // Stores that miss fill their queue, and what they wait for is the memory.
  const auto stores = loop({op(CoreOp::kNothing, {}, {})}, {}, [](uint32_t run) {
    CoreAccess access = at(uint64_t{Random(run).next() % (1U << 30U)} * 64, 0);
    access.store = true;
    return std::vector<CoreAccess>{access};
  });
  EXPECT_GT(share(simulate_core(stores, round_core()), CoreBound::kMemory), 0.9);
}

TEST(SimulateCore, PagesCostByTheTlbThatHeldThem) {
  const auto chase = [](uint16_t held_by) {
    return cycles_per_run(loop({load({1}, {1})}, {}, [held_by](uint32_t) {
      CoreAccess access = at(0x5000, 32);
      access.tlb_entries = held_by;
      return std::vector<CoreAccess>{access};
    }));
  };
  EXPECT_NEAR(chase(64), 5, 0.1);
  EXPECT_NEAR(chase(1536), 5 + 7, 0.1);
  EXPECT_NEAR(chase(2048), 5 + 30, 0.1);  // more than this core's 1536
  EXPECT_NEAR(chase(0), 5 + 30, 0.1);
}

TEST(SimulateCore, VectorsTakePartOfSharedPorts) {
  CoreDesign design = round_core();
  const auto both = loop({op(CoreOp::kVectorInteger, {}, {40}), op(CoreOp::kVectorInteger, {}, {41}),
                          op(CoreOp::kAlu, {}, {1}), op(CoreOp::kAlu, {}, {2}), op(CoreOp::kAlu, {}, {3})});
  design.width = 8;
  EXPECT_NEAR(cycles_per_run(both, design), 0.75, 0.02);
  design.ports.vector_shares_alu = true;
  EXPECT_NEAR(cycles_per_run(both, design), 1.25, 0.02);
}

TEST(SimulateCore, AMoveIsFreeWhereTheCoreEliminatesIt) {
  CoreInstruction move = op(CoreOp::kAlu, {1}, {2});
  move.move = true;
  const auto chain = loop({move, op(CoreOp::kAlu, {2}, {1})});
  CoreDesign design = round_core();
  EXPECT_NEAR(cycles_per_run(chain, design), 2, 0.01);
  design.eliminates_moves = true;
  EXPECT_NEAR(cycles_per_run(chain, design), 1, 0.01);
}

TEST(SimulateCore, AChaseTakesTheLatencyOfItsLevel) {
  const auto chase = [](uint32_t held_kib) {
    return loop({load({1}, {1})}, {}, [held_kib](uint32_t run) {
      return std::vector<CoreAccess>{at(uint64_t{Random(run).next() % (1U << 30U)} * 64, held_kib)};
    });
  };
  EXPECT_NEAR(cycles_per_run(chase(32)), 5, 0.1);
  EXPECT_NEAR(cycles_per_run(chase(256)), 14, 0.1);
  EXPECT_NEAR(cycles_per_run(chase(16 << 10)), 50, 0.3);
  EXPECT_NEAR(cycles_per_run(chase(0)), 200, 1);
  EXPECT_GT(share(simulate_core(chase(0), round_core()), CoreBound::kMemory), 0.97);
  EXPECT_GT(share(simulate_core(chase(256), round_core()), CoreBound::kL2), 0.9);
}

TEST(SimulateCore, SoManyMissesAreUnderwayAtOnce) {
  const auto loads = loop({load({}, {1})}, {}, [](uint32_t run) {
    return std::vector<CoreAccess>{at(uint64_t{Random(run).next() % (1U << 30U)} * 64, 0)};
  });
  CoreDesign design = round_core();
  EXPECT_NEAR(cycles_per_run(loads, design), 200.0 / 10, 0.5);
  design.misses = 40;
  EXPECT_NEAR(cycles_per_run(loads, design), 200.0 / 40, 0.3);
  design.misses = 200;
  design.load_queue = 20;
  EXPECT_NEAR(cycles_per_run(loads, design), 200.0 / 20, 0.6);
  design.load_queue = 200;
  design.line_ns = 4;
  EXPECT_NEAR(cycles_per_run(loads, design), 8, 0.2);
}

// The window is what lets a miss overlap with the next.
TEST(SimulateCore, TheWindowBoundsHowFarMissesOverlap) {
  std::vector<CoreInstruction> body = {load({}, {1})};
  for (int i = 0; i < 49; ++i) body.push_back(op(CoreOp::kAlu, {}, {2}));
  const auto sparse = loop(body, {}, [](uint32_t run) {
    return std::vector<CoreAccess>{at(uint64_t{Random(run).next() % (1U << 30U)} * 64, 0)};
  });
  CoreDesign design = round_core();
  EXPECT_NEAR(cycles_per_run(sparse, design), 50, 3);  // four of them in the window of 200
  design.window = 50;
  EXPECT_NEAR(cycles_per_run(sparse, design), 200, 15);
}

TEST(SimulateCore, AStoreIsForwarded) {
  CoreInstruction store = op(CoreOp::kNothing, {1}, {});
  const auto through = loop({store, load({}, {1})}, {}, [](uint32_t) {
    CoreAccess to = at(0x5000, 32);
    to.store = true;
    CoreAccess from = at(0x5000, 32);
    from.instruction = 1;
    return std::vector<CoreAccess>{to, from};
  });
  EXPECT_NEAR(cycles_per_run(through), 5, 1.1);
}

// A core that renames memory doesn't wait where the address is named alike.
TEST(SimulateCore, AStoreIsMirroredWhereItsAddressIsNamedAlike) {
  CoreInstruction store = op(CoreOp::kNothing, {1}, {});
  store.addresses = 1;
  store.registers[1] = 5;
  const auto through = [&](uint8_t base, bool written) {
    return loop({store, op(CoreOp::kAlu, {}, {static_cast<uint8_t>(written ? 5 : 6)}), load({base}, {1})}, {},
                [](uint32_t) {
                  CoreAccess to = at(0x5000, 32);
                  to.store = true;
                  CoreAccess from = at(0x5000, 32);
                  from.instruction = 2;
                  return std::vector<CoreAccess>{to, from};
                });
  };
  CoreDesign design = round_core();
  design.forward_cycles = 8;
  design.mirror_cycles = 1;
  EXPECT_LT(cycles_per_run(through(5, false), design), 3);
  EXPECT_NEAR(cycles_per_run(through(5, true), design), 8, 1.1);
  EXPECT_NEAR(cycles_per_run(through(7, false), design), 8, 1.1);
}

// `count` blocks of ten instructions in 40 bytes, a line apart, one after the other.
DecodedProcess long_code(uint32_t count, bool taken) {
  DecodedProcess process;
  DecodedPiece piece;
  for (uint32_t block = 0; block < count; ++block) {
    process.blocks.push_back({64 * uint64_t{block}, 40, 10 * block, 10});
    for (int i = 0; i < 10; ++i) process.instructions.push_back(op(CoreOp::kAlu, {}, {1}));
  }
  for (uint32_t run = 0; run < kRuns; ++run) {
    CoreStep step;
    step.block = run % count;
    step.taken = taken;
    piece.steps.push_back(step);
  }
  piece.instructions_count = 10 * uint64_t{kRuns};
  piece.stands_for_count = 10.0 * static_cast<double>(piece.instructions_count);
  process.pieces = {piece};
  return process;
}

TEST(SimulateCore, CodeThatIsNotKeptDecodedComesAsItIsFetched) {
  CoreDesign design = round_core();
  design.fetch_bytes = 8;
  EXPECT_NEAR(cycles_per_run(long_code(20, false), design), 2.5, 0.1);   // kept
  EXPECT_NEAR(cycles_per_run(long_code(400, false), design), 5.0, 0.2);  // 400 lines of 128 that it has room for
  design.op_cache_instructions = 400 * 16;
  EXPECT_NEAR(cycles_per_run(long_code(400, false), design), 2.5, 0.1);
  design.op_cache_instructions = 0;
  EXPECT_NEAR(cycles_per_run(long_code(20, false), design), 5.0, 0.2);
  design.decode_width = 1;
  EXPECT_NEAR(cycles_per_run(long_code(20, false), design), 10.0, 0.2);
}

TEST(SimulateCore, TakenBranchesBeyondTheBtbCostMore) {
  CoreDesign design = round_core();
  design.op_cache_instructions = 400 * 16;
  design.btb_miss_cycles = 6;
  EXPECT_NEAR(cycles_per_run(long_code(400, true), design), 2.5, 0.1);
  design.btb_entries = 64;
  EXPECT_NEAR(cycles_per_run(long_code(400, true), design), 7.0, 0.2);
}

TEST(SimulateCore, AMispredictedBranchCostsItsPenaltyAndItsWait) {
  const auto wrong = [](uint32_t, CoreStep& step) { step.mispredicted = true; };
  const double alone = cycles_per_run(loop({op(CoreOp::kBranch, {}, {})}, wrong));
  EXPECT_NEAR(alone, 17, 1);
  // It depends on a slow value.
  const double late = cycles_per_run(loop({op(CoreOp::kDivide64, {}, {1}), op(CoreOp::kBranch, {1}, {})}, wrong));
  EXPECT_NEAR(late, alone + 40, 2);
  EXPECT_GT(share(simulate_core(loop({op(CoreOp::kBranch, {}, {})}, wrong), round_core()), CoreBound::kMispredict),
            0.8);
}

TEST(SimulateCore, TakenBranchesComeOneByOne) {
  const auto taken = loop({op(CoreOp::kBranch, {}, {})}, [](uint32_t, CoreStep& step) { step.taken = true; });
  CoreDesign design = round_core();
  EXPECT_NEAR(cycles_per_run(taken, design), 1, 0.02);
  design.taken_branches_cycles = 3;
  EXPECT_NEAR(cycles_per_run(taken, design), 3, 0.02);
}

// More of anything is never slower, whatever the program.
TEST(SimulateCore, MoreOfAnythingIsNeverMuchSlower) {
  Random random(7);
  for (int program = 0; program < 20; ++program) {
    std::vector<CoreInstruction> body;
    std::vector<uint32_t> held;
    const uint32_t levels[] = {32, 256, 16 << 10, 0};
    for (int i = 0; i < 30; ++i) {
      const auto reg = [&] { return static_cast<uint8_t>(random.next() % 12); };
      if (random.uniform() < 0.3) {
        body.push_back(load({reg()}, {reg()}));
        held.push_back(levels[random.next() % 4]);
      } else {
        body.push_back(op(static_cast<CoreOp>(1 + random.next() % 16), {reg(), reg()}, {reg()}));
        held.push_back(1);
      }
    }
    const auto process = loop(body, {}, [&](uint32_t run) {
      std::vector<CoreAccess> accesses;
      for (size_t i = 0; i < body.size(); ++i) {
        if (held[i] == 1) continue;
        CoreAccess access = at(uint64_t{Random(uint64_t{run} * 64 + i).next() % (1U << 30U)} * 64, held[i]);
        access.instruction = static_cast<uint16_t>(i);
        accesses.push_back(access);
      }
      return accesses;
    });
    const double plain = cycles_per_run(process);
    for (int CoreDesign::*field : {&CoreDesign::width, &CoreDesign::window, &CoreDesign::scheduler,
                                   &CoreDesign::load_queue, &CoreDesign::store_queue, &CoreDesign::misses}) {
      CoreDesign more = round_core();
      more.*field *= 2;
      EXPECT_LT(cycles_per_run(process, more), 1.03 * plain);
    }
  }
}

}  // namespace
}  // namespace perfcast
