def program(v, hidden=v.classes):
    return linear(v.x, hidden)
