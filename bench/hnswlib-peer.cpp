// hnswlib as C++ users have it, driven over two pipes by bench/hnswlib-cpp.ts. CPU time is taken here,
// around the work alone.
//   hnswlib-peer DATA COMMANDS ANSWERS
// DATA: u32 dimension, u32 rows, u32 queries, u32 cosine, then the floats of rows and queries.
// Commands are three u32: 0 from to = add rows; 1 ef 0 = width; 2 k 0 = search all queries; 3 = end.
// Answers: f64 seconds, then for a search k u32 per query (0xffffffff for none).
#include <hnswlib/hnswlib.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

static double seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

static void normalise(float *row, uint32_t dimension) {
  double squares = 0;
  for (uint32_t d = 0; d < dimension; d++) squares += row[d] * row[d];
  const float factor = squares > 0 ? 1 / std::sqrt(squares) : 0;
  for (uint32_t d = 0; d < dimension; d++) row[d] *= factor;
}

int main(int count, char **argument) {
  if (count != 4) return 64;
  FILE *data = std::fopen(argument[1], "rb");
  uint32_t head[4];
  if (!data || std::fread(head, 4, 4, data) != 4) return 66;
  const auto [dimension, rows, queries, cosine] = head;
  std::vector<float> numbers(size_t(rows + queries) * dimension);
  if (std::fread(numbers.data(), 4, numbers.size(), data) != numbers.size()) return 66;
  std::fclose(data);
  hnswlib::L2Space l2(dimension);
  hnswlib::InnerProductSpace inner(dimension);
  hnswlib::SpaceInterface<float> *space = &l2;
  if (cosine) space = &inner;
  hnswlib::HierarchicalNSW<float> index(space, rows, 16, 200);
  FILE *commands = std::fopen(argument[2], "rb");
  FILE *answers = std::fopen(argument[3], "wb");
  if (!commands || !answers) return 66;
  uint32_t command[3];
  std::vector<uint32_t> found;
  while (std::fread(command, 4, 3, commands) == 3 && command[0] != 3) {
    const auto [what, first, second] = command;
    found.clear();
    const double before = seconds();
    if (what == 0) {
      for (uint32_t row = first; row < second; row++) {
        float *vector = &numbers[size_t(row) * dimension];
        if (cosine) normalise(vector, dimension);
        index.addPoint(vector, row);
      }
    } else if (what == 1) {
      index.setEf(first);
    } else {
      std::vector<float> query(dimension);
      for (uint32_t q = 0; q < queries; q++) {
        const float *at = &numbers[size_t(rows + q) * dimension];
        query.assign(at, at + dimension);
        if (cosine) normalise(query.data(), dimension);
        auto nearest = index.searchKnn(query.data(), first);
        for (uint32_t i = nearest.size(); i < first; i++) found.push_back(0xffffffff);
        for (; !nearest.empty(); nearest.pop()) found.push_back(nearest.top().second);
      }
    }
    const double spent = seconds() - before;
    std::fwrite(&spent, 8, 1, answers);
    std::fwrite(found.data(), 4, found.size(), answers);
    std::fflush(answers);
  }
  return 0;
}
