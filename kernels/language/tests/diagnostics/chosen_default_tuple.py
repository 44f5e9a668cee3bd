def program(v, sources=(0, 3)):
    return v.id == sources
