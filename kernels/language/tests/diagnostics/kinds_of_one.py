def program(v):
    return sum(where(v.kind == k, 1, 0) for k in v.graph.kinds)
