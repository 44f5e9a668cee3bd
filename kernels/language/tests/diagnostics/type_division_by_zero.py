def program(v, layers=0):
    return v.degree * (1 / layers)
