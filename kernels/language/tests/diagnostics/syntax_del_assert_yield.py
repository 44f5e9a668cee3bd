def program(v):
    assert v.classes > 1
    h = v.degree
    del h
    yield v.degree
