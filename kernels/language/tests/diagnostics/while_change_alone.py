def program(v):
    v.a = 1.0
    while change(v.a):
        v.a = v.a / 2
    return v.a
