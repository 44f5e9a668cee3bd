def program(v):
    return random()
