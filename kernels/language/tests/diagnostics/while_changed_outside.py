def program(v):
    v.a = v.id
    v.b = changed(v.a)
    return v.b
