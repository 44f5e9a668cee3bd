def pagerank(v, damping=0.85, tolerance=1e-6):
    v.rank = 1 / v.graph.nodes
    while change(v.rank) > tolerance:                       # repeated, not unrolled: a superstep each time
        v.rank = (1 - damping) / v.graph.nodes + damping * sum(u.rank / u.outdegree for u in v.innbs)
    return v.rank
