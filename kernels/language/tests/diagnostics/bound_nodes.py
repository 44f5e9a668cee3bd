def program(v):
    v.h = v.degree * 0.5
    for a in range(1000):
        for b in range(1000):
            v.h = v.h * 0.99 + a + b
    return v.h
