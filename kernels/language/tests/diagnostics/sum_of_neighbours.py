def program(v):
    return sum(v.innbs)
