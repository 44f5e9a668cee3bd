def program(v):
    return ~(v.degree > 1)
