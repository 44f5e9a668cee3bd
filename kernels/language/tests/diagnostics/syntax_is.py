def program(v, name="a"):
    if name is "a":
        return v.degree
    return v.id
