def program(v):
    return sum(u.id for u in v.innbs)
