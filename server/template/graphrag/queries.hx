// Writes: a document, its chunks, and the entities that they mention

QUERY addDocument(source: String, title: String) =>
    document <- AddN<Document>({source: source, title: title})
    RETURN document

QUERY addEntities(rows: [{name: String, kind: String}]) =>
    FOR {name, kind} IN rows {
        AddN<Entity>({name: name, kind: kind})
    }
    RETURN "added"

QUERY addChunk(source: String, text: String, position: U32, mentions: [String]) =>
    chunk <- AddV<Chunk>(Embed(text), {text: text, position: position})
    AddE<HasChunk>::From(N<Document>({source: source}))::To(chunk)
    FOR name IN mentions {
        AddE<Mentions>::From(chunk)::To(N<Entity>({name: name}))
    }
    RETURN chunk

QUERY relate(from: String, to: String, how: String) =>
    relation <- AddE<RelatedTo>({how: how})
        ::From(N<Entity>({name: from}))
        ::To(N<Entity>({name: to}))
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

// A search that an agent may continue as a traversal.
#[mcp]
QUERY findChunks(text: String, k: I64) =>
    chunks <- SearchV<Chunk>(Embed(text), k)
    RETURN chunks

// Chunks, where they are from, and what is known of what they mention: the context of an answer.
QUERY context(text: String, k: I64) =>
    chunks <- SearchV<Chunk>(Embed(text), k)
    entities <- chunks::Out<Mentions>
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
