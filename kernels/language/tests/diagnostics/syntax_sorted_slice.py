def program(v, k=3):
    return sum(sorted(u.age for u in v.innbs)[:k])
