// usearch as C++ users have it, with NumKong's SIMD: half-precision numbers, and a predicate over a
// bitmap where searches are restricted. What it is told and answers: peer-loop.hpp.
#include "peer-loop.hpp"

#include <usearch/index_dense.hpp>

#include <cstdlib>
#include <utility>

using unum::usearch::index_dense_config_t;
using unum::usearch::index_dense_t;
using unum::usearch::metric_kind_t;
using unum::usearch::metric_punned_t;
using unum::usearch::scalar_kind_t;

class Usearch {
public:
  explicit Usearch(const Head &head) {
    const auto kind = head.cosine ? metric_kind_t::cos_k : metric_kind_t::l2sq_k;
    const metric_punned_t metric(head.dimension, kind, scalar_kind_t::f16_k);
    auto made = index_dense_t::make(metric, index_dense_config_t(16, 200));
    if (!made) fail(made.error.release());
    index = std::move(made.index);
    if (!index.try_reserve({head.rows, 1})) fail("out of memory");
  }

  void add(const float *vector, uint32_t row) {
    auto added = index.add(row, vector, 0);
    if (!added) fail(added.error.release());
  }

  void width(uint32_t ef) { index.change_expansion_search(ef); }

  void filter(std::vector<uint32_t> &rows) { allowed = std::move(rows); }

  void search(const float *vector, uint32_t k, std::vector<uint32_t> &found) {
    const auto passes = [this](uint64_t row) { return allowed[row >> 5] >> (row & 31) & 1; };
    auto nearest = allowed.empty() ? index.search(vector, k, 0)
                                   : index.filtered_search(vector, k, passes, 0);
    if (!nearest) fail(nearest.error.release());
    for (size_t i = 0; i < nearest.size(); i++) found.push_back(uint32_t(nearest[i].member.key));
  }

private:
  index_dense_t index;
  std::vector<uint32_t> allowed; // Nothing: all rows.

  [[noreturn]] static void fail(const char *reason) {
    std::fprintf(stderr, "usearch: %s\n", reason);
    std::exit(70);
  }
};

int main(int count, char **argument) { return serve<Usearch>(count, argument); }
