def program(v):
    v.h = linear(v.x, 16)
    while change(v.h) > 0.001:
        v.h = tanh(linear(v.h, 16))
    return v.h
