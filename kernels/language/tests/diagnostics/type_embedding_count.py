def program(v):
    return embedding(v.kind, 8)
