def program(v):
    h = 0
    for k in range(10000000):
        h = h + k
    return v.degree + h
