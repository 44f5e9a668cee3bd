def program(v):
    v.a = 0
    while active(v.degree > 3):
        v.a = v.a + 1
    return v.a
