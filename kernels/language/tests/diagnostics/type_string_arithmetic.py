def program(v, mode="sum"):
    return v.degree * mode
