def program(v):
    return v.id == 500
