def program(v, source=-1):
    return v.id == source
