// The demo: a small history of science. People wrote works; works are about ideas and build on
// earlier works; each work has a passage, a short text that is embedded and can be searched by
// meaning and by keyword. Every person, idea and work has a key, a short name that calls refer to
// it by.

N::Person {
    UNIQUE INDEX key: String,
    name: String,
    INDEX field: String,
    // Years before the common era are negative. Unset while alive.
    born: I32,
    died: I32
}

N::Idea {
    UNIQUE INDEX key: String,
    name: String,
    summary: String
}

N::Work {
    UNIQUE INDEX key: String,
    title: String,
    INDEX year: I32,
    kind: String DEFAULT "book",
    INDEX field: String,
    added: Date DEFAULT NOW
}

N::ReadingList {
    name: String,
    done: Boolean DEFAULT false,
    created: Date DEFAULT NOW
}

// What a work says, in a few sentences. The embedding is implicit.
V::Passage {
    text: String
}

E::Wrote { From: Person, To: Work, Properties: {} }
E::About { From: Work, To: Idea }
E::HasPassage { From: Work, To: Passage }
E::BuildsOn UNIQUE { From: Work, To: Work }
E::Influenced UNIQUE { From: Person, To: Person }
E::Contains { From: ReadingList, To: Work, Properties: { position: U8, note: String } }
