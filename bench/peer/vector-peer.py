# Holds one peer of `npm run bench -- vector --beside ...` in a process of its own, on one thread.
# bench/peer/python-peer.ts starts this program and reads the responses.
#   python3 vector-peer.py KIND DATA OPTIONS
# KIND is a key of `peers`. OPTIONS is a JSON object for the peer. DATA is the file of `writeData` in
# bench/peer/cpp-peer.ts: u32 dimension, rows, queries, and 1 for cosine; then the numbers of the rows and of
# the queries as 32-bit floats. Requests are lines on standard input and responses are lines on standard
# output, each a JSON object:
#   {"op": "build"} -> {"cpu": seconds, "bytes": of the index}
#   {"op": "search", "k": 10, "width": 40, "ids": true}
#     -> {"cpu": seconds for all queries, "ids": [[row, ...], ...]}
# No graph is searched with a width below k. A request without "ids" gets the time only. A request that fails
# gets {"error": text}. The first line, before any request, is {"ready": true} or an error. The program ends
# at the end of its input.
# Invariant: "cpu" is the CPU time of this process for the peer's work alone, without reading and printing JSON.
import os

for name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'NUMEXPR_NUM_THREADS'):
    os.environ[name] = '1'

import array
import json
import math
import sys
import tempfile
import time


class Data:
    """The vectors of a set; those of a cosine set have the length 1, so that L2 orders them alike."""

    def __init__(self, path):
        import numpy as np

        head = np.fromfile(path, np.uint32, 4)
        self.dimension, self.count, queries = (int(number) for number in head[:3])
        numbers = np.fromfile(path, np.float32, offset=16).reshape(-1, self.dimension)
        if head[3] == 1:
            lengths = np.linalg.norm(numbers, axis=1, keepdims=True)
            numbers = numbers / np.maximum(lengths, 1e-30)
        self.rows = np.ascontiguousarray(numbers[: self.count])
        self.queries = np.ascontiguousarray(numbers[self.count : self.count + queries])


class Exact:
    """Compares every row. It needs no package, so the tests of the protocol use it."""

    def __init__(self, path, options):
        with open(path, 'rb') as file:
            head, numbers = array.array('I'), array.array('f')
            head.fromfile(file, 4)
            numbers.frombytes(file.read())
        size = head[0]
        vectors = [numbers[i : i + size] for i in range(0, len(numbers), size)]
        if head[3] == 1:
            vectors = [self.unit(vector) for vector in vectors]
        self.rows, self.queries = vectors[: head[1]], vectors[head[1] :]

    @staticmethod
    def unit(vector):
        length = math.sqrt(sum(x * x for x in vector)) or 1
        return [x / length for x in vector]

    def build(self):
        return sum(len(row) for row in self.rows) * 4

    def search(self, k, width):
        nearest = []
        for query in self.queries:
            far = [sum((x - y) ** 2 for x, y in zip(row, query)) for row in self.rows]
            nearest.append(sorted(range(len(far)), key=far.__getitem__)[:k])
        return nearest


class Symphony:
    """SymphonyQG of the package rabitqlib, by the authors of its paper."""

    def __init__(self, path, options):
        import rabitqlib

        self.data = Data(path)
        self.construction = options['efConstruction']
        self.index = rabitqlib.SymqgIndex(self.data.dimension, options['degree'], 'l2')

    def build(self):
        self.index.build(self.data.rows, self.construction, 1)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'index')
            self.index.save(path)
            return os.path.getsize(path)

    def search(self, k, width):
        return self.index.search(self.data.queries, k, width, 1)[0]


class Glass:
    """The graph of pyglass with 4-bit codes, its answers compared again by 16-bit numbers."""

    def __init__(self, path, options):
        import glass

        self.glass = glass
        self.options = options
        self.data = Data(path)
        glass.set_num_threads(1)

    def build(self):
        rows, options = self.data.rows, self.options
        common = {'metric': 'L2'}
        sizes = {'R': options['degree'], 'L': options['efConstruction']}
        graph = self.glass.Index(index_type='HNSW', quant='SQ8U', **common, **sizes).build(rows)
        codes = {'quantizer': 'SQ4U', 'refine_quant': 'FP16'}
        self.index = self.glass.Searcher(graph=graph, data=rows, **common, **codes)
        self.index.optimize(1)
        size = self.data.dimension
        return self.data.count * (size // 2 + size * 2 + options['degree'] * 4)

    def search(self, k, width):
        queries = self.data.queries
        self.index.set_ef(width)
        return self.index.batch_search(queries, k, 1)[0].reshape(len(queries), k)


class Faiss:
    """A base class for the indexes of Faiss; a subclass says which."""

    def __init__(self, path, options):
        import faiss

        self.faiss = faiss
        self.options = options
        self.data = Data(path)
        faiss.omp_set_num_threads(1)

    def build(self):
        self.index = self.make()
        self.index.train(self.data.rows)
        self.index.add(self.data.rows)
        return len(self.faiss.serialize_index(self.index))

    def search(self, k, width):
        return self.index.search(self.data.queries, k, params=self.parameters(width))[1]


class FaissGraph(Faiss):
    """HNSW over 8-bit codes."""

    def make(self):
        index = self.faiss.index_factory(self.data.dimension, 'HNSW16,SQ8')
        index.hnsw.efConstruction = self.options['efConstruction']
        return index

    def parameters(self, width):
        return self.faiss.SearchParametersHNSW(efSearch=width)


class FaissLists(Faiss):
    """Inverted lists of 4-bit codes, the best compared again exactly. The width is the number of lists."""

    def make(self):
        lists = 1 << max(0, round(math.log2(2 * math.sqrt(self.data.count))))
        lists = max(1, min(lists, self.data.count // 39))
        # A code stands for two numbers or more, and the number of codes, at most 128, divides the dimension.
        size = self.data.dimension
        codes = max(n for n in range(1, min(128, size // 2) + 1) if size % n == 0)
        index = self.faiss.index_factory(size, f'IVF{lists},PQ{codes}x4fs,RFlat')
        # A small set trains with what it has; without this, Faiss prints a warning for each code.
        self.faiss.downcast_index(index.base_index).pq.cp.min_points_per_centroid = 1
        return index

    def parameters(self, width):
        lists = self.faiss.SearchParametersIVF(nprobe=width)
        return self.faiss.IndexRefineSearchParameters(k_factor=8, base_index_params=lists)


class Usearch:
    """usearch with 16-bit numbers."""

    def __init__(self, path, options):
        from usearch.index import Index

        self.data = Data(path)
        self.index = Index(
            ndim=self.data.dimension,
            metric='l2sq',
            dtype='f16',
            connectivity=options['m'],
            expansion_add=options['efConstruction'],
        )

    def build(self):
        self.index.add(range_of(self.data.count), self.data.rows, threads=1)
        return int(self.index.memory_usage)

    def search(self, k, width):
        self.index.expansion_search = width
        return self.index.search(self.data.queries, k, threads=1).keys


class Hnswlib:
    """hnswlib, compiled on this machine for its processor."""

    def __init__(self, path, options):
        import hnswlib

        self.data = Data(path)
        self.options = options
        self.index = hnswlib.Index('l2', self.data.dimension)

    def build(self):
        sizes = {'M': self.options['m'], 'ef_construction': self.options['efConstruction']}
        self.index.init_index(self.data.count, **sizes)
        self.index.add_items(self.data.rows, range_of(self.data.count), num_threads=1)
        return self.index.index_file_size()

    def search(self, k, width):
        self.index.set_ef(width)
        return self.index.knn_query(self.data.queries, k, num_threads=1)[0]


def range_of(count):
    import numpy as np

    return np.arange(count)


peers = {
    'exact': Exact,
    'faiss-graph': FaissGraph,
    'faiss-lists': FaissLists,
    'glass': Glass,
    'hnswlib': Hnswlib,
    'symqg': Symphony,
    'usearch': Usearch,
}


def answer(peer, request):
    before = time.process_time()
    if request['op'] == 'build':
        size = peer.build()
        return {'cpu': time.process_time() - before, 'bytes': int(size)}
    if request['op'] != 'search':
        raise ValueError(f'there is no op {request["op"]}')
    k = request['k']
    found = peer.search(k, request['width'])
    spent = {'cpu': time.process_time() - before}
    if not request.get('ids'):
        return spent
    return {**spent, 'ids': [[int(row) for row in rows] for rows in found]}


def main():
    # A peer may print to standard output. Its prints go to standard error, so that they are no responses.
    responses = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)

    def say(response):
        responses.write(json.dumps(response) + '\n')
        responses.flush()

    def attempt(work):
        try:
            return work()
        except Exception as error:
            say({'error': f'{type(error).__name__}: {error}'})
            return None

    kind, path, options = sys.argv[1:4]
    peer = attempt(lambda: peers[kind](path, json.loads(options)))
    if peer is None:
        return
    say({'ready': True})
    for line in sys.stdin:
        response = attempt(lambda: answer(peer, json.loads(line)))
        if response is not None:
            say(response)


main()
