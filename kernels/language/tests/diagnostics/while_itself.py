def program(v):
    v.a = v.id
    while changed(v.a):
        v.a = v.a
    return v.a
