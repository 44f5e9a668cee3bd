def program(v):
    v.rank = 1
    while change(v.rank) > 0.001:
        v.rank = 0.15 + 0.85 * sum(u.rank / u.outdegree for u in v.innbs)
    return v.rank
