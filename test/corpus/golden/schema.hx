N::Plant {
    INDEX species: String,
    UNIQUE INDEX code: U64,
    text: String
}
E::Near {
    From: Plant,
    To: Plant,
    Properties: { weight: F64 }
}
E::Shows {
    From: Picture,
    To: Plant
}
V::Picture { code: U64 DEFAULT 7 }
V::Leaf { name: String DEFAULT "leaf" }

QUERY addPlant(species: String, code: U64, text: String) =>
    plant <- AddN<Plant>({species: species, code: code, text: text})
    RETURN plant

QUERY near(from: ID, to: ID, weight: F64) =>
    edge <- AddE<Near>({weight: weight})::From(from)::To(to)
    RETURN edge

QUERY addPicture(numbers: [F64], of: ID) =>
    picture <- AddV<Picture>(numbers, {code: 8})
    edge <- AddE<Shows>::From(picture)::To(of)
    RETURN picture

QUERY addLeaf(numbers: [F64]) =>
    leaf <- AddV<Leaf>(numbers, {name: "l"})
    RETURN leaf

QUERY drop(code: U64) =>
    DROP N<Plant>({code: code})
    RETURN "gone"
