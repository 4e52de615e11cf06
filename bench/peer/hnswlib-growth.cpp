// How hnswlib's own search grows with its data, for `scale`: vectors around a hundred centres as the bench
// draws them, built by all threads that are given, searched by one. Prints a line for each recall@10, rising
// ones: microseconds a search of the narrowest width that reaches it, that width, its recall, and the
// seconds that building took.
// hnswlib-peer.cpp, which takes the bench's own vectors, builds with one thread: too long for a million.
// Usage: hnswlib-growth COUNT DIMENSIONS INTRINSIC THREADS RECALL...
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include <hnswlib/hnswlib.h>

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/** Runs `work(i)` for every i below `count` on that many threads. */
template <typename Work> static void each(size_t count, size_t threads, Work work) {
  std::atomic<size_t> next{0};
  std::vector<std::thread> pool;
  for (size_t t = 0; t < threads; t++)
    pool.emplace_back([&] {
      for (size_t i = next++; i < count; i = next++) work(i);
    });
  for (auto &thread : pool) thread.join();
}

int main(int argc, char **argv) {
  const size_t count = atol(argv[1]), dimensions = atol(argv[2]), intrinsic = atol(argv[3]), threads = atol(argv[4]);
  const size_t queries = 200, k = 10;
  std::mt19937 centreSeed(3), seed(count);
  std::uniform_real_distribution<float> unit(-.5f, .5f);
  std::vector<float> centres(100 * dimensions);
  for (auto &x : centres) x = unit(centreSeed);
  std::vector<float> directions(100 * intrinsic * dimensions);
  for (auto &x : directions) x = unit(centreSeed);
  const float step = .6f * std::sqrt(12.f / intrinsic);
  auto draw = [&](float *out) {
    const size_t of = seed() % 100;
    const float *centre = &centres[of * dimensions];
    for (size_t d = 0; d < dimensions; d++) out[d] = centre[d] + (intrinsic == 0 ? unit(seed) * .6f : 0);
    for (size_t i = 0; i < intrinsic; i++) {
      const float far = unit(seed) * step, *direction = &directions[(of * intrinsic + i) * dimensions];
      for (size_t d = 0; d < dimensions; d++) out[d] += far * direction[d];
    }
    float norm = 0;
    for (size_t d = 0; d < dimensions; d++) norm += out[d] * out[d];
    // Cosine is the inner product of vectors of length one.
    for (size_t d = 0; d < dimensions; d++) out[d] /= std::sqrt(norm);
  };
  std::vector<float> data(count * dimensions), asked(queries * dimensions);
  for (size_t i = 0; i < count; i++) draw(&data[i * dimensions]);
  for (size_t i = 0; i < queries; i++) draw(&asked[i * dimensions]);

  hnswlib::InnerProductSpace space(dimensions);
  std::vector<std::set<size_t>> truth(queries);
  each(queries, threads, [&](size_t q) {
    std::vector<std::pair<float, size_t>> all(count);
    auto distance = space.get_dist_func();
    for (size_t i = 0; i < count; i++)
      all[i] = {distance(&asked[q * dimensions], &data[i * dimensions], space.get_dist_func_param()), i};
    std::partial_sort(all.begin(), all.begin() + k, all.end());
    for (size_t i = 0; i < k; i++) truth[q].insert(all[i].second);
  });

  hnswlib::HierarchicalNSW<float> index(&space, count, 16, 200);
  const auto began = Clock::now();
  index.addPoint(&data[0], 0);
  each(count - 1, threads, [&](size_t i) { index.addPoint(&data[(i + 1) * dimensions], i + 1); });
  const double building = secondsSince(began);

  int wanted = 5;
  const size_t widest = 3000;
  for (double exact = 10; wanted < argc; exact *= 1.15) {
    const size_t width = std::lround(exact);
    index.setEf(width);
    size_t hits = 0;
    for (size_t q = 0; q < queries; q++)
      for (auto found = index.searchKnn(&asked[q * dimensions], k); !found.empty(); found.pop())
        hits += truth[q].count(found.top().second);
    const double recall = double(hits) / (queries * k);
    if (recall < atof(argv[wanted]) && width < widest) continue;
    std::vector<double> times;
    for (size_t round = 0; round < 5; round++)
      for (size_t q = 0; q < queries; q++) {
        const auto start = Clock::now();
        index.searchKnn(&asked[q * dimensions], k);
        times.push_back(secondsSince(start) * 1e6);
      }
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    for (; wanted < argc && (recall >= atof(argv[wanted]) || width >= widest); wanted++)
      printf("%.1f %zu %.4f %.1f\n", times[times.size() / 2], width, recall, building);
  }
}
