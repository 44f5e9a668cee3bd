def bfs(v, source=0):
    "Breadth-first search along out-edges (Moore 1959): level, -1 out of reach, and parent, the smallest id of the level before."
    v.level = 0 if v.id == source else v.graph.nodes
    while changed(v.level):
        v.level = min(v.level, min(u.level + 1 for u in v.innbs))
    v.parent = min(u.id for u in v.innbs if u.level == v.level - 1)
    v.level = v.level if v.level < v.graph.nodes else -1
    return v.level, v.parent
