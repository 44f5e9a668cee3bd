def program(v):
    sum = v.degree
    return sum(u.degree for u in v.innbs)
