def program(v):
    v.a = 1.0
    while change(v.a) >= 0.1:
        v.a = v.a / 2
    return v.a
