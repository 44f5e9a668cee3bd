def program(v, hidden):
    return linear(v.x, hidden)
