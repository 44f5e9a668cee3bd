def program(v):
    return v.degree + 99999999999999999999
