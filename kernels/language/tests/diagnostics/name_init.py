def program(v):
    return v.x @ param((12, 4), init="glorot")
