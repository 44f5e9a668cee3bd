def program(v):
    return linear(v.id, 16)
