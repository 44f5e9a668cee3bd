def program(v):
    return sum(u.degree / pool_sum(v.degree) for u in v.innbs)
