def pagerank_spread(v, damping=0.85, tolerance=1e-6):
    "PageRank (Brin & Page 1998); the rank of vertices without out-edges is shared out to all, so ranks sum to 1."
    v.rank = 1 / v.graph.nodes
    while change(v.rank) > tolerance:
        lost = pool_sum(v.rank if v.outdegree == 0 else 0)
        v.rank = (1 - damping) / v.graph.nodes + damping * (sum(u.rank / u.outdegree for u in v.innbs) + lost / v.graph.size)
    return v.rank
