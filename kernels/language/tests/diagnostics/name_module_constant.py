def program(v):
    return v.degree * math.pi
