def personalized_pagerank(v, source=(0,), damping=0.85, tolerance=1e-6):
    "Personalised PageRank (Haveliwala 2002): who leaves, or finds no out-edge, starts again at one of `source`; ranks sum to 1."
    v.start = 1.0 if v.id in source else 0.0
    v.start = v.start / max(pool_sum(v.start), 1.0)
    v.rank = v.start
    while change(v.rank) > tolerance:
        lost = pool_sum(v.rank if v.outdegree == 0 else 0)
        v.rank = (1 - damping + damping * lost) * v.start + damping * sum(u.rank / u.outdegree for u in v.innbs)
    return v.rank
