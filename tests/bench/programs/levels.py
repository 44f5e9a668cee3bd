def levels(v, source=0):
    "Levels of a breadth-first search along out-edges, -1 out of reach: what the peers compute, without parents."
    v.level = 0 if v.id == source else v.graph.nodes
    while changed(v.level):
        v.level = min(v.level, min(u.level + 1 for u in v.innbs))
    v.level = v.level if v.level < v.graph.nodes else -1
    return v.level
