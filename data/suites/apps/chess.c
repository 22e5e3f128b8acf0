// Searches chess positions to a fixed depth: alpha-beta with quiescence on a board of 10 x 12 squares, without a table
// of positions: chess DEPTH. No castling and no capture en passant.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kEmpty, kPawn, kKnight, kBishop, kRook, kQueen, kKing, kOutside = 99 };
enum { kMost = 220, kInfinite = 30000, kMate = 20000 };

typedef struct {
  short from, to;
  signed char captured, promoted;
  int order;
} Move;

static signed char board[120];  // white above zero, black below
static int side;                // 1 white, -1 black
static int kings[2];
static int material;  // with the worth of squares, for white
static long nodes;

static const int kWorth[] = {0, 100, 320, 330, 500, 900, 0};
static const int kSteps[7][8] = {{0},
                                 {0},
                                 {-21, -19, -12, -8, 8, 12, 19, 21},
                                 {-11, -9, 9, 11},
                                 {-10, -1, 1, 10},
                                 {-11, -10, -9, -1, 1, 9, 10, 11},
                                 {-11, -10, -9, -1, 1, 9, 10, 11}};
static const int kStepCount[] = {0, 0, 8, 4, 4, 8, 8};

static int abs_of(int value) { return value < 0 ? -value : value; }

// What a piece gains by its square: the middle, and for pawns the way ahead.
static int worth(int piece, int square) {
  const int kind = abs_of(piece);
  const int column = square % 10 - 1;
  const int row = piece > 0 ? 9 - square / 10 : square / 10 - 2;
  const int middle = 6 - abs_of(2 * column - 7) / 2 - abs_of(2 * row - 7) / 2;
  int bonus = 0;
  if (kind == kPawn) bonus = 4 * row + (column >= 2 && column <= 5 ? 2 * row : 0);
  if (kind == kKnight || kind == kBishop) bonus = 5 * middle;
  if (kind == kQueen) bonus = middle;
  if (kind == kKing) bonus = -4 * middle;
  return piece > 0 ? kWorth[kind] + bonus : -(kWorth[kind] + bonus);
}

static void place(int square, int piece) {
  if (board[square] != kEmpty) material -= worth(board[square], square);
  board[square] = (signed char)piece;
  if (piece != kEmpty) material += worth(piece, square);
  if (abs_of(piece) == kKing) kings[piece < 0] = square;
}

static void set_up(const char* text) {
  memset(board, kOutside, sizeof board);
  material = 0;
  for (int square = 21; square <= 98; ++square) {
    if (square % 10 >= 1 && square % 10 <= 8) board[square] = kEmpty;
  }
  int square = 21;
  for (; *text != ' '; ++text) {
    static const char kLetters[] = " PNBRQK";
    if (*text == '/') {
      square += 2;
    } else if (*text >= '1' && *text <= '8') {
      square += *text - '0';
    } else {
      const int upper = *text & ~32;
      const int kind = (int)(strchr(kLetters, upper) - kLetters);
      place(square++, *text == upper ? kind : -kind);
    }
  }
  side = text[1] == 'w' ? 1 : -1;
}

// Whether a piece of `by` could go to `square`.
static int attacked(int square, int by) {
  for (int i = 0; i < 8; ++i) {
    if (board[square + kSteps[kKnight][i]] == by * kKnight) return 1;
  }
  for (int i = 0; i < 8; ++i) {
    const int step = kSteps[kQueen][i];
    const int straight = i == 1 || i == 3 || i == 4 || i == 6;
    int at = square + step;
    if (board[at] == by * kKing) return 1;
    while (board[at] == kEmpty) at += step;
    if (board[at] == by * kQueen || board[at] == by * (straight ? kRook : kBishop)) return 1;
  }
  return board[square + 10 * by - 1] == by * kPawn || board[square + 10 * by + 1] == by * kPawn;
}

static int add(Move* moves, int count, int from, int to, int promoted) {
  const int captured = board[to];
  moves[count] = (Move){(short)from, (short)to, (signed char)captured, (signed char)promoted, 0};
  if (captured != kEmpty) moves[count].order = 10000 + 10 * kWorth[abs_of(captured)] - abs_of(board[from]);
  if (promoted != kEmpty) moves[count].order += 9000;
  if (moves[count].order == 0) moves[count].order = side * (worth(board[from], to) - worth(board[from], from));
  return count + 1;
}

static int add_pawn(Move* moves, int count, int from, int to) {
  const int last = to < 30 || to > 90;
  if (!last) return add(moves, count, from, to, kEmpty);
  for (int kind = kQueen; kind >= kKnight; --kind) count = add(moves, count, from, to, side * kind);
  return count;
}

static int generate(Move* moves, int captures_only) {
  int count = 0;
  for (int from = 21; from <= 98; ++from) {
    const int piece = board[from] * side;
    if (board[from] == kOutside || piece <= 0) continue;
    if (piece == kPawn) {
      const int ahead = from - 10 * side;
      for (int to = ahead - 1; to <= ahead + 1; to += 2) {
        if (board[to] != kOutside && board[to] * side < 0) count = add_pawn(moves, count, from, to);
      }
      if (board[ahead] == kEmpty && (!captures_only || ahead < 30 || ahead > 90)) {
        count = add_pawn(moves, count, from, ahead);
        const int at_home = side > 0 ? from > 80 : from < 40;
        if (at_home && board[ahead - 10 * side] == kEmpty) count = add(moves, count, from, ahead - 10 * side, kEmpty);
      }
      continue;
    }
    for (int i = 0; i < kStepCount[piece]; ++i) {
      const int step = kSteps[piece][i];
      for (int to = from + step; board[to] != kOutside && board[to] * side <= 0; to += step) {
        if (board[to] != kEmpty || !captures_only) count = add(moves, count, from, to, kEmpty);
        if (board[to] != kEmpty || piece == kKnight || piece == kKing) break;
      }
    }
  }
  return count;
}

// False, and nothing is changed, where the own king could be taken.
static int make(const Move* move) {
  const int piece = board[move->from];
  place(move->from, kEmpty);
  place(move->to, move->promoted != kEmpty ? move->promoted : piece);
  side = -side;
  if (!attacked(kings[side > 0], side)) return 1;
  side = -side;
  place(move->to, move->captured);
  place(move->from, piece);
  return 0;
}

static void unmake(const Move* move) {
  side = -side;
  const int piece = move->promoted != kEmpty ? side * kPawn : board[move->to];
  place(move->to, move->captured);
  place(move->from, piece);
}

static void best_first(Move* moves, int at, int count) {
  int best = at;
  for (int i = at + 1; i < count; ++i) {
    if (moves[i].order > moves[best].order) best = i;
  }
  const Move held = moves[at];
  moves[at] = moves[best];
  moves[best] = held;
}

// Material and squares are kept up to date; pawns that stand alone or in a row, and open files of rooks, are counted.
static int evaluate(void) {
  int pawns[2][10] = {{0}, {0}};
  int score = material;
  for (int square = 31; square <= 88; ++square) {
    if (board[square] == kPawn) ++pawns[0][square % 10];
    if (board[square] == -kPawn) ++pawns[1][square % 10];
  }
  for (int column = 1; column <= 8; ++column) {
    for (int colour = 0; colour < 2; ++colour) {
      const int sign = colour == 0 ? 1 : -1;
      const int here = pawns[colour][column];
      if (here > 1) score -= sign * 10 * (here - 1);
      const int left = column > 1 ? pawns[colour][column - 1] : 0;
      const int right = column < 8 ? pawns[colour][column + 1] : 0;
      if (here > 0 && left + right == 0) score -= sign * 20;
    }
  }
  for (int square = 21; square <= 98; ++square) {
    if (board[square] == kRook && pawns[0][square % 10] == 0) score += pawns[1][square % 10] == 0 ? 15 : 10;
    if (board[square] == -kRook && pawns[1][square % 10] == 0) score -= pawns[0][square % 10] == 0 ? 15 : 10;
  }
  return side * score;
}

static int quiesce(int alpha, int beta) {
  ++nodes;
  const int stand = evaluate();
  if (stand >= beta) return beta;
  if (stand > alpha) alpha = stand;
  Move moves[kMost];
  const int count = generate(moves, 1);
  for (int i = 0; i < count; ++i) {
    best_first(moves, i, count);
    if (!make(&moves[i])) continue;
    const int score = -quiesce(-beta, -alpha);
    unmake(&moves[i]);
    if (score >= beta) return beta;
    if (score > alpha) alpha = score;
  }
  return alpha;
}

static int search(int depth, int alpha, int beta) {
  if (depth == 0) return quiesce(alpha, beta);
  ++nodes;
  Move moves[kMost];
  const int count = generate(moves, 0);
  int legal = 0;
  for (int i = 0; i < count; ++i) {
    best_first(moves, i, count);
    if (!make(&moves[i])) continue;
    ++legal;
    const int score = -search(depth - 1, -beta, -alpha);
    unmake(&moves[i]);
    if (score >= beta) return beta;
    if (score > alpha) alpha = score;
  }
  if (legal > 0) return alpha;
  return attacked(kings[side < 0], -side) ? -kMate - depth : 0;
}

static long count_moves(int depth) {
  if (depth == 0) return 1;
  Move moves[kMost];
  const int count = generate(moves, 0);
  long total = 0;
  for (int i = 0; i < count; ++i) {
    if (!make(&moves[i])) continue;
    total += count_moves(depth - 1);
    unmake(&moves[i]);
  }
  return total;
}

int main(int argc, char** argv) {
  static const char* const kPositions[] = {
      "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w", "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w",
      "2r2rk1/1bqnbppp/p2ppn2/1p6/3NPP2/P1N1B3/1PP1B1PP/R2Q1RK1 w", "8/2p2pk1/1p1p2p1/3P3p/P1P2P1P/1P4P1/5K2/8 w"};
  const int depth = argc == 2 ? atoi(argv[1]) : 0;
  if (depth <= 0) {
    fprintf(stderr, "chess: expected a depth\n");
    return 2;
  }
  set_up(kPositions[0]);
  // The number of games of four moves is known; castling and captures en passant come later.
  if (count_moves(4) != 197281) {
    fprintf(stderr, "chess: wrong moves\n");
    return 1;
  }
  for (size_t i = 0; i < sizeof kPositions / sizeof kPositions[0]; ++i) {
    set_up(kPositions[i]);
    const int score = search(depth, -kInfinite, kInfinite);
    printf("%d\n", score);
  }
  printf("%ld nodes\n", nodes);
  return 0;
}
