#pragma once
// The worker's side of the protocol: one JSON object per line. What libraries print on the standard streams goes
// elsewhere: the worker moves the protocol to descriptors of its own first.
//
//   -> {"do": "prepare", "spec": {...}}   <- {"ok": true, "work": W, "kernel": "...", "note": "..."}
//   -> {"do": "estimate"}                 <- {"ok": true, "seconds": S}
//   -> {"do": "run", "calls": N}          <- {"ok": true, "seconds": S, "cpu_seconds": T}    of all N calls
//   -> {"do": "check"}                    <- {"ok": true, "correct": true, "worst": ..., "relative_error": ..., ...}
//   anything that fails                   <- {"ok": false, "code": "...", "message": "...", "kind": "environment"}
//                                         "kind" only where this machine can't run it: ErrorKind::kEnvironment
//   end of input                          the worker ends

namespace perfcast::ai::gemm {

// Serves until its input ends; the exit code of the process.
int worker_main(int input_fd, int output_fd);

}  // namespace perfcast::ai::gemm
