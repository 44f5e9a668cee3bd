def program(v):
    v.a = linear(v.x, 16)
    v.b = linear(v.x, 8)
    v.h = v.a + v.b
    return v.h
