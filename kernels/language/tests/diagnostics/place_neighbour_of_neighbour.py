def program(v):
    return sum(sum(w.degree for w in u.innbs) for u in v.innbs)
