def program(v):
    v.a = linear(v.x, 16, name="first")
    v.b = linear(v.x, 16, name="first")
    return v.a + v.b
