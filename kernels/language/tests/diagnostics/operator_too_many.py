def program(v):
    return relu(v.x, 0.1, 3)
