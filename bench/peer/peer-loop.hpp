// What hnswlib-peer.cpp and usearch-peer.cpp share: an index driven over two pipes by
// bench/peer/cpp-peer.ts. CPU time is taken here, around the work alone.
//   PROGRAM DATA COMMANDS ANSWERS
// DATA: u32 dimension, u32 rows, u32 queries, u32 cosine, then the floats of rows and queries.
// Commands are three u32: 0 from to = add rows; 1 ef 0 = width; 2 k 0 = search all queries;
// 3 0 0 = end; 4 words 0 = find only these rows, a bitmap of that many u32 behind the command.
// Answers: f64 seconds, then for a search k u32 per query (0xffffffff for none).
#pragma once

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

struct Head {
  uint32_t dimension, rows, queries, cosine;
};

static double seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

/**
 * Serves until the end. An Index is made of a Head and has add(vector, row), width(ef),
 * search(vector, k, found), which appends up to k rows, and filter(bitmap), which may take it away.
 */
template <typename Index> int serve(int count, char **argument) {
  if (count != 4) return 64;
  // First of all: the other side waits for them, and has to see it when this one ends early.
  FILE *commands = std::fopen(argument[2], "rb");
  FILE *answers = std::fopen(argument[3], "wb");
  if (!commands || !answers) return 66;
  FILE *data = std::fopen(argument[1], "rb");
  Head head;
  if (!data || std::fread(&head, sizeof head, 1, data) != 1) return 66;
  const auto [dimension, rows, queries, cosine] = head;
  std::vector<float> numbers(size_t(rows + queries) * dimension);
  if (std::fread(numbers.data(), 4, numbers.size(), data) != numbers.size()) return 66;
  std::fclose(data);
  Index index(head);
  uint32_t command[3];
  std::vector<uint32_t> found;
  while (std::fread(command, 4, 3, commands) == 3 && command[0] != 3) {
    const auto [what, first, second] = command;
    std::vector<uint32_t> bitmap(what == 4 ? first : 0);
    if (std::fread(bitmap.data(), 4, bitmap.size(), commands) != bitmap.size()) return 65;
    found.clear();
    const double before = seconds();
    if (what == 0) {
      for (uint32_t row = first; row < second; row++)
        index.add(&numbers[size_t(row) * dimension], row);
    } else if (what == 1) {
      index.width(first);
    } else if (what == 2) {
      for (uint32_t query = 0; query < queries; query++) {
        index.search(&numbers[size_t(rows + query) * dimension], first, found);
        found.resize(size_t(query + 1) * first, 0xffffffff);
      }
    } else {
      index.filter(bitmap);
    }
    const double spent = seconds() - before;
    std::fwrite(&spent, 8, 1, answers);
    std::fwrite(found.data(), 4, found.size(), answers);
    std::fflush(answers);
  }
  return 0;
}
