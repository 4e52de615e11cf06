// What an agent remembers: episodes are what happened, as it was said; facts are what follows from
// them, with the time during which they hold. A fact that ends is closed, never deleted.

V::Episode {
    text: String,
    INDEX session: String,
    at: Date DEFAULT NOW
}

N::Subject {
    UNIQUE INDEX name: String
}

N::Fact {
    text: String,
    INDEX predicate: String,
    valid_from: Date,
    // Unset while the fact holds.
    valid_to: Date
}

E::Holds { From: Subject, To: Fact }
E::Supports { From: Episode, To: Fact }
