// Writes: a document, its chunks, and the entities that they mention. A query that adds can run again:
// what is there already is updated.

QUERY addDocument(source: String, title: String) =>
    document <- N<Document>({source: source})::UpsertN({source: source, title: title})
    RETURN document

QUERY addEntities(rows: [{name: String, kind: String}]) =>
    FOR {name, kind} IN rows {
        N<Entity>({name: name})::UpsertN({name: name, kind: kind})
    }
    RETURN "added"

// Adds a chunk, or replaces the one at this position with its mentions. The entities exist already.
QUERY addChunk(source: String, text: String, position: U32, mentions: [String]) =>
    document <- N<Document>({source: source})
    chunk <- document
        ::Out<HasChunk>
        ::WHERE(_::{position}::EQ(position))
        ::UpsertV(Embed(text), {text: text, position: position})
    UpsertE<HasChunk>::From(document)::To(chunk)
    DROP chunk::OutE<Mentions>::WHERE(!_::ToN::{name}::IS_IN(mentions))
    FOR name IN mentions {
        UpsertE<Mentions>::From(chunk)::To(N<Entity>({name: name}))
    }
    RETURN chunk

// Adds a document with all its chunks; chunks that it had before are deleted. The entities exist already.
QUERY replaceDocument(
    source: String,
    title: String,
    chunks: [{text: String, position: U32, mentions: [String]}]
) =>
    document <- N<Document>({source: source})::UpsertN({source: source, title: title})
    DROP document::Out<HasChunk>
    FOR {text, position, mentions} IN chunks {
        chunk <- AddV<Chunk>(Embed(text), {text: text, position: position})
        AddE<HasChunk>::From(document)::To(chunk)
        FOR name IN mentions {
            UpsertE<Mentions>::From(chunk)::To(N<Entity>({name: name}))
        }
    }
    RETURN document::{source, title, chunks: _::Out<HasChunk>::COUNT}

// Two entities can be related in several ways, each once.
QUERY relate(from: String, to: String, how: String) =>
    source <- N<Entity>({name: from})
    target <- N<Entity>({name: to})
    source
        ::WHERE(!EXISTS(_::OutE<RelatedTo>::WHERE(AND(_::{how}::EQ(how), _::ToN::{name}::EQ(to)))))
        ::AddE<RelatedTo>({how: how})
        ::To(target)
    relation <- source
        ::OutE<RelatedTo>
        ::WHERE(AND(_::{how}::EQ(how), _::ToN::{name}::EQ(to)))
        ::FIRST
    RETURN relation

// Chunks go with their document; entities stay.
QUERY dropDocument(source: String) =>
    DROP N<Document>({source: source})::Out<HasChunk>
    DROP N<Document>({source: source})
    RETURN "dropped"

// Reads

// The nearest chunks and those with the words, as one list: a chunk that stands in both comes first.
QUERY search(text: String, k: I64) =>
    chunks <- RerankRRF(SearchV<Chunk>(Embed(text), k), SearchBM25<Chunk>(text, k))::RANGE(0, k)
    RETURN chunks::{chunkId: ID, score, text}

// The best documents, each with its best chunk.
QUERY searchDocuments(text: String, k: I64) =>
    documents <- RerankRRF(
        SearchV<Chunk>(Embed(text), k, by: _::In<HasChunk>),
        SearchBM25<Chunk>(text, k, by: _::In<HasChunk>)
    )::RANGE(0, k)
    RETURN documents::{source, title, score, chunk: _.hit::{text}}

// A search that an agent may continue as a traversal.
#[mcp]
QUERY findChunks(text: String, k: I64) =>
    chunks <- SearchV<Chunk>(Embed(text), k)
    RETURN chunks

// Chunks, where they are from, and what is known of what they mention: the context of an answer.
QUERY context(text: String, k: I64) =>
    chunks <- SearchV<Chunk>(Embed(text), k)
    entities <- chunks::Out<Mentions>::DEDUP
    RETURN chunks::{
        score,
        text,
        source: _::In<HasChunk>::FIRST::{source},
        mentions: _::Out<Mentions>::{name}
    }, entities::{
        name,
        kind,
        related: _::OutE<RelatedTo>::{how, to: _::ToN::{name}}
    }

// An entity: the chunks that mention it, and what it is related to.
QUERY aboutEntity(name: String) =>
    entity <- N<Entity>({name: name})
    RETURN entity::{name, kind, chunks: _::In<Mentions>::{text}, related: _::Out<RelatedTo>::{name}}

// All documents.
QUERY documents() =>
    documents <- N<Document>
    RETURN documents::{source, title, chunks: _::Out<HasChunk>::COUNT}
