def program(v):
    h = 0
    for k in range(v.degree):
        h = h + k
    return h
