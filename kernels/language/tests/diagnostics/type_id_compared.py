def program(v):
    return v.id == 0.5
