def program(v, source=0):
    v.near = v.id == source
    return v.degree > source
