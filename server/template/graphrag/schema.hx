// Documents are cut into chunks. Each chunk has an embedding and edges to the entities it mentions. A
// question finds chunks by vector and by word, and follows edges from them to related facts.

N::Document {
    UNIQUE INDEX source: String,
    title: String,
    added: Date DEFAULT NOW
}

// A vector type always has an embedding. Keyword search reads only `text`, because `text` has the mark SEARCH.
// The first chunk of a document has `position` 0.
V::Chunk {
    SEARCH text: String,
    position: U32
}

N::Entity {
    UNIQUE INDEX name: String,
    kind: String
}

E::HasChunk { From: Document, To: Chunk }
E::Mentions UNIQUE { From: Chunk, To: Entity }
E::RelatedTo { From: Entity, To: Entity, Properties: { how: String } }
