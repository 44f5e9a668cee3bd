def program(v):
    return sum(u for u in v.innbs)
