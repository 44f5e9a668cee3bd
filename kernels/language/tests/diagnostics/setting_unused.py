def program(v, hidden=16, drop=0.5):
    return linear(v.x, hidden)
