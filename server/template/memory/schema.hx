// What an agent remembers: episodes are what happened, as it was said; facts are what follows from
// them, with the time during which they hold. A fact that ends is closed, never deleted.
// Everything belongs to a user, and every query reads the memories of one user only.

V::Episode {
    INDEX user: String,
    INDEX session: String,
    text: String,
    at: Date DEFAULT NOW
}

// A user has one subject of a name.
N::Subject {
    INDEX user: String,
    INDEX name: String
}

N::Fact {
    INDEX user: String,
    INDEX predicate: String,
    text: String,
    valid_from: Date,
    // Unset while the fact holds.
    valid_to: Date
}

E::Holds UNIQUE { From: Subject, To: Fact }
E::Supports UNIQUE { From: Episode, To: Fact }
