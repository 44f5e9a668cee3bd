def program(v, sources=(0, 3)):
    return any(v.id == source for source in sources)
