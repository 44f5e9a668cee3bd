def program(v):
    global h
    h = v.x
    return h
