def program(v):
    return median(u.degree for u in v.innbs)
