# data: {"training": true}
def program(v, hidden=16):
    v.h = relu(linear(v.x, hidden))
    return v.h
