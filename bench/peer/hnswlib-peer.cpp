// hnswlib as C++ users have it. What it is told and answers: peer-loop.hpp.
#include "peer-loop.hpp"

#include <hnswlib/hnswlib.h>

#include <cmath>
#include <cstdlib>

class Hnswlib {
public:
  explicit Hnswlib(const Head &head)
      : dimension(head.dimension), cosine(head.cosine != 0), l2(dimension), inner(dimension),
        query(dimension),
        index(cosine ? static_cast<hnswlib::SpaceInterface<float> *>(&inner) : &l2, head.rows, 16,
              200) {}

  void add(float *vector, uint32_t row) {
    if (cosine) normalise(vector);
    index.addPoint(vector, row);
  }

  void width(uint32_t ef) { index.setEf(ef); }

  // Debian's version (0.6.2) knows no filters.
  void filter(std::vector<uint32_t> &) { std::exit(69); }

  void search(const float *vector, uint32_t k, std::vector<uint32_t> &found) {
    query.assign(vector, vector + dimension);
    if (cosine) normalise(query.data());
    for (auto nearest = index.searchKnn(query.data(), k); !nearest.empty(); nearest.pop())
      found.push_back(uint32_t(nearest.top().second));
  }

private:
  const uint32_t dimension;
  const bool cosine;
  hnswlib::L2Space l2;
  hnswlib::InnerProductSpace inner;
  std::vector<float> query;
  hnswlib::HierarchicalNSW<float> index;

  void normalise(float *row) const {
    double squares = 0;
    for (uint32_t d = 0; d < dimension; d++) squares += row[d] * row[d];
    const float factor = squares > 0 ? 1 / std::sqrt(squares) : 0;
    for (uint32_t d = 0; d < dimension; d++) row[d] *= factor;
  }
};

int main(int count, char **argument) { return serve<Hnswlib>(count, argument); }
