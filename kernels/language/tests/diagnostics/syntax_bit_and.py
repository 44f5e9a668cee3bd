def program(v):
    v.a = (v.degree > 1) & (v.degree < 5)
    return v.a
