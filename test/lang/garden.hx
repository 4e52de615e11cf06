// The garden: the schema of the worked examples of the language.
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
