def tables(v, hidden=8):
    "Rows of tables by a column, by an id, and by the relations of edges."
    v.h = embedding(v.age, hidden, count=5) + embedding(v.id, hidden)
    v.e = sum(embedding(e.type, hidden) * e.src.h for e in v.inedges)
    return linear(v.h + v.e, v.classes)
