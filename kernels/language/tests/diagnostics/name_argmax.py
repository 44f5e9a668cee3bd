def program(v):
    return argmax(u.degree for u in v.innbs)
