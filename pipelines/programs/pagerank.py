def pagerank(v, damping=0.85, tolerance=1e-6):
    "PageRank (Brin & Page 1998); the rank of a vertex without out-edges is dropped, so ranks need not sum to 1."
    v.rank = 1 / v.graph.nodes
    while change(v.rank) > tolerance:
        v.rank = (1 - damping) / v.graph.nodes + damping * sum(u.rank / u.outdegree for u in v.innbs)
    return v.rank
