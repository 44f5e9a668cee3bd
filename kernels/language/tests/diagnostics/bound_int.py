def program(v):
    return v.degree * 2 ** 100
