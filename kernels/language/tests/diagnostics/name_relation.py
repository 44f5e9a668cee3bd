def program(v):
    return sum(u.degree for u in v.innbs["cite"])
