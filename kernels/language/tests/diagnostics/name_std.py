def program(v):
    return std(u.age for u in v.innbs)
