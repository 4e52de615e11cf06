// The garden: the schema and the worked examples X01 to X27 that the language tests run.
N::Gardener { UNIQUE INDEX email: String, INDEX city: String, name: String, level: U8 DEFAULT 1, joined: Date DEFAULT NOW }
N::Plant    { INDEX species: String, name: String, height: F64, tags: [String], stock: I32 DEFAULT 0, serial: U64 }
N::Bed      { code: String, guess: F64 DEFAULT 0.0 }
V::Note     { text: String, lang: String DEFAULT "en" }
V::Photo    {}
E::Grows    { From: Gardener, To: Plant, Properties: { since: Date DEFAULT NOW, rating: U8 } }
E::Follows UNIQUE { From: Gardener, To: Gardener }
E::PlantedIn { From: Plant, To: Bed, Properties: {} }
E::Tells    { From: Plant, To: Note }                E::Cites { From: Note, To: Note }
E::Lane     { From: Bed, To: Bed, Properties: { metres: F64, muddy: Boolean DEFAULT false } }

// X01 create a node: properties, defaults, uniqueness
QUERY addGardener(email: String, city: String, name: String) =>
    g <- AddN<Gardener>({ email: email, city: city, name: name })
    RETURN g
// X02 all nodes of a type; slice by position
QUERY gardeners() => all <- N<Gardener> RETURN all
QUERY page(start: U32, end: U32) => RETURN N<Gardener>::RANGE(start, end)::{name}
QUERY scans(edge: ID) => es <- E<Follows> one <- E<Grows>(edge) vs <- V<Note> RETURN es::ID, one::{rating}, vs::ID
// X03 select by a property value: indexed, not indexed, unique
QUERY inCity(city: String) => found <- N<Gardener>({city: city}) RETURN found
QUERY tall(height: F64) => found <- N<Plant>({height: height}) RETURN found::ID
QUERY byEmail(email: String) => g <- N<Gardener>({email: email}) RETURN g
// X04 create vectors without and with properties; read one by id; the embedding itself
QUERY addPhoto(vec: [F64]) => v <- AddV<Photo>(vec) RETURN v
QUERY addNote(vec: [F64], text: String) => v <- AddV<Note>(vec, { text: text }) RETURN v::ID
QUERY note(id: ID) => v <- V<Note>(id) RETURN v
QUERY noteData(id: ID) => v <- V<Note>(id) RETURN v::{text, data}
// X05 let the server embed the text; macro; nothing is stored when the provider fails
#[model("openai:text-embedding-3-small")]
QUERY remember(plant: ID, text: String) =>
    v <- AddV<Note>(Embed(text), { text: text })    AddE<Tells>::From(plant)::To(v)
    RETURN v::ID
// X06 create an edge from an id to an element
QUERY grow(who: ID, plant: String) =>
    p <- N<Plant>({name: plant})    e <- AddE<Grows>({ rating: 3 })::From(who)::To(p)
    RETURN e
// X07 projections: listed, renamed, ids, spread, exclusion
QUERY names() => g <- N<Gardener> RETURN g::{name, city}
QUERY card() => g <- N<Gardener>({email: "ana@x.org"}) RETURN g::{who: name, city}
QUERY ids() => g <- N<Gardener> RETURN g::ID
QUERY full(id: ID) => p <- N<Plant>(id) RETURN p::{plantId: ID, title: name, ..}
QUERY slim(id: ID) => p <- N<Plant>(id) RETURN p::!{serial, tags}
// X08 literal, nothing, several values, objects
QUERY ping() => RETURN "pong"
QUERY quiet() => RETURN NONE
QUERY both(id: ID) => g <- N<Gardener>(id) n <- g::Out<Grows>::COUNT RETURN g::{name}, n, "ok"
QUERY report(id: ID) => g <- N<Gardener>(id) RETURN { who: g::{name}, plants: g::Out<Grows>::ID, tags: [1, 2, NONE] }

// X09 steps between nodes, edges and vectors
QUERY around(id: ID) =>
    g <- N<Gardener>(id)   plants <- g::Out<Grows>   edges <- g::OutE<Grows>   growers <- plants::In<Grows>   back <- plants::InE<Grows>::FromN
    heads <- edges::ToN    notes <- plants::OutE<Tells>::ToV    from <- notes::InE<Tells>::FromN    citing <- notes::InE<Cites>::FromV
    RETURN plants::ID, edges, growers::ID, back::ID, heads::ID, notes::ID, from::ID, citing::ID
// X10 AND, OR, negation, any neighbour, unset properties
QUERY pick(city: String, low: U8) =>
    a <- N<Gardener>::WHERE(AND(_::{city}::EQ(city), _::{level}::GTE(low)))    b <- N<Gardener>::WHERE(OR(_::{level}::LT(2), !EXISTS(_::Out<Grows>)))
    c <- N<Gardener>::WHERE(!_::{city}::EQ(city))
    some <- N<Gardener>::WHERE(_::Out<Grows>::{stock}::EQ(0))    none <- N<Gardener>::WHERE(!_::Out<Grows>::{stock}::EQ(0))
    RETURN a::ID, b::ID, c::ID, some::ID, none::ID
QUERY unset() => p <- N<Plant>
    RETURN { eq: p::WHERE(_::{serial}::EQ(5))::COUNT, neq: p::WHERE(_::{serial}::NEQ(5))::COUNT, gt: p::WHERE(_::{serial}::GT(0))::COUNT, isUnset: p::WHERE(_::{serial}::EQ(NONE))::COUNT }
// X11 mixed numbers, lists, membership
QUERY lists(names: [String], star: ID) =>
    hero <- N<Gardener>(star)
    a <- N<Plant>::WHERE(_::{height}::GT(1))         b <- N<Plant>::WHERE(_::{tags}::CONTAINS("sun"))    c <- N<Plant>::WHERE(_::{name}::IS_IN(names))
    d <- N<Gardener>::WHERE(_::Out<Follows>::CONTAINS(hero))    e <- N<Plant>::WHERE(_::{name}::CONTAINS("a"))
    RETURN a::ID, b::ID, c::ID, d::ID, e::ID
// X12 order, slice, first
QUERY top(n: U8) =>
    best <- N<Plant>::ORDER<Desc>(_::{height})::RANGE(0, n)
    busy <- N<Gardener>::ORDER<Desc>(_::Out<Grows>::COUNT)::FIRST
    nobody <- N<Gardener>::WHERE(_::{level}::GT(200))::FIRST
    RETURN best::ID, busy::{name}, nobody
// X13 counting, duplicates, groups, intersection
QUERY counts() =>
    n <- N<Gardener>::Out<Follows>::COUNT    d <- N<Gardener>::Out<Follows>::DEDUP::COUNT
    cities <- N<Gardener>::GROUP_BY(city)    low <- N<Gardener>::WHERE(_::{level}::LT(3))::AGGREGATE_BY(city)
    RETURN n, d, cities, low
QUERY growsAll(names: [String]) => g <- N<Plant>::WHERE(_::{name}::IS_IN(names))::INTERSECT(_::In<Grows>) RETURN g::{name}
// X14 nested projections and a closure
QUERY profile(id: ID) =>
    g <- N<Gardener>(id)
    RETURN g::|u|{
        name: u::{name}, followers: _::In<Follows>::COUNT, popular: EXISTS(_::In<Follows>),
        plants: u::Out<Grows>::{ title: name, owner: u::{name}, notes: _::Out<Tells>::{text}, bed: _::Out<PlantedIn>::FIRST::{code} }
    }
// X15 arithmetic and aggregates
QUERY figures() => ps <- N<Plant> RETURN ps::{ name, double: MUL(_::{stock}, 2), half: DIV(_::{stock}, 2), next: ADD(_::{serial}, 1) }
QUERY totals() =>
    ps <- N<Plant>    stats <- { total: SUM(ps::{stock}), mean: AVG(ps::{height}), tallest: MAX(ps::{height}), n: COUNT(ps) }
    RETURN stats
QUERY ratio(a: I64, b: I64) => r <- DIV(a, b) RETURN r
// X16 update one, update many, unset, range check
QUERY rename(id: ID, name: String) => p <- N<Plant>(id)::UPDATE({ name: name }) RETURN p::{name, stock}
QUERY restock(n: I32) => ps <- N<Plant>::WHERE(_::{stock}::LT(5))::UPDATE({ stock: ADD(_::{stock}, n), serial: NONE }) RETURN ps::{name, stock}
// X17 upserts
QUERY saveGardener(email: String, city: String) => g <- N<Gardener>({email: email})::UpsertN({ email: email, city: city }) RETURN g::{name, city, level}
QUERY rate(a: ID, b: ID, rating: U8) =>
    old <- E<Grows>    e <- old::UpsertE({ rating: rating })::From(a)::To(b)
    RETURN e::{rating, from_node, to_node}
QUERY saveNote(vec: [F64], text: String) => v <- V<Note>::WHERE(_::{text}::EQ(text))::UpsertV(vec, { text: text, lang: "en" }) RETURN v::ID
// X18 delete elements, edges, nothing
QUERY removePlant(id: ID) => p <- N<Plant>(id) DROP p::Out<Tells> DROP p RETURN "removed"
QUERY unfollow(a: ID, b: ID) => DROP N<Gardener>(a)::OutE<Follows>::WHERE(_::ToN::ID::EQ(b)) RETURN NONE
QUERY forget(id: ID) => DROP N<Plant>(id) RETURN "done"
// X19 loops: bulk load, nested objects, elements
QUERY plantAll(owner: ID, rows: [{species: String, n: I32, care: {light: String}, notes: [{text: String, vec: [F64]}]}]) =>
    FOR row IN rows {
        p <- AddN<Plant>({ species: row.species, stock: row.n, tags: [row.care.light] })
        AddE<Grows>::From(owner)::To(p)
        FOR {text, vec} IN row.notes { v <- AddV<Note>(vec, { text })  AddE<Tells>::From(p)::To(v) }
    }
    RETURN "planted"
QUERY promote(city: String) =>
    FOR g IN N<Gardener>({city: city}) { g::UPDATE({ level: ADD(g.level, 1) }) }
    RETURN N<Gardener>({city: city})::{name, level}
// X20 several edges at once; unique edges; batch of vectors
QUERY followCity(who: ID, city: String) =>
    es <- AddE<Follows>::From(who)::To(N<Gardener>::WHERE(AND(_::{city}::EQ(city), _::ID::NEQ(who))))
    RETURN es::{to_node}
QUERY photos(vecs: [[F64]]) => vs <- BatchAddV<Photo>(vecs) RETURN vs::COUNT

// X21 vector search, then back into the graph
QUERY similar(vec: [F64], k: I64) => hits <- SearchV<Note>(vec, k) plants <- hits::In<Tells> RETURN hits, plants::{name}
// X22 filters before and after the search; search within a traversal
QUERY filtered(vec: [F64], word: String, who: ID) =>
    pre <- SearchV<Note>(vec, 1)::PREFILTER(_::{text}::CONTAINS(word))
    post <- SearchV<Note>(vec, 1)::WHERE(_::{text}::CONTAINS(word))
    mine <- N<Gardener>(who)::Out<Grows>::Out<Tells>::SearchV<Note>(vec, 5)
    RETURN pre::ID, post::ID, mine::{id, score}
// X23 keyword search
QUERY words(text: String, k: U32) => found <- SearchBM25<Plant>(text, k)::{name, score} RETURN found
// X24 rerankers
QUERY diverse(vec: [F64], lambda: F64) =>
    a <- SearchV<Note>(vec, 3)::RerankRRF(k: 60)    b <- SearchV<Note>(vec, 3)::RerankMMR(lambda: lambda, distance: "cosine")
    RETURN a::{id, score}, b::{id, score}
// X25 shortest paths: hops, weights, A*, backwards, none
QUERY routes(a: ID, b: ID) =>
    hops <- N<Bed>(a)::ShortestPath<Lane>::To(b)    bfs <- N<Bed>(b)::ShortestPathBFS<Lane>::From(a)
    short <- N<Bed>(a)::ShortestPathDijkstras<Lane>(_::{metres})::To(b)
    star <- N<Bed>(b)::ShortestPathAStar<Lane>(MUL(_::{metres}, 1.0), "guess")::From(a)
    cost <- N<Bed>(a)::ShortestPathDijkstras<Lane>(ADD(_::{metres}, MUL(_::ToN::{guess}, 5)))::To(b)
    RETURN hops, bfs::{hop_count}, short::{total_weight, hop_count}, star::{total_weight}, cost::{total_weight, hop_count}
// X26 optional parameters: as a filter, as a patch
QUERY find(city?: String, low?: U8) => g <- N<Gardener>::WHERE(AND(OR(city::EQ(NONE), _::{city}::EQ(city)), OR(low::EQ(NONE), _::{level}::GTE(low)))) RETURN g::ID
QUERY patch(id: ID, name?: String, city?: String) => g <- N<Gardener>(id)::UPDATE({ name: name, city: city }) RETURN g::{name, city}
// X27 exact numbers, dates, parameter faults
QUERY tag(id: ID, serial: U64, since: Date) =>
    p <- N<Plant>(id)::UPDATE({ serial: serial })    e <- p::InE<Grows>::UPDATE({ since: since })
    RETURN p::{serial}, e::{since}, since
