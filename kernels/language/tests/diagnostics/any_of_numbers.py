def program(v):
    return any(u.degree for u in v.innbs)
