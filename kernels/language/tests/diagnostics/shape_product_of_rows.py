def program(v):
    return v.x @ v.x
