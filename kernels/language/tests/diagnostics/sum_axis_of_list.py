def program(v):
    return sum((u.x for u in v.innbs), axis=0)
