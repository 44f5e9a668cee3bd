def program(v, source=500):
    return v.id == source
