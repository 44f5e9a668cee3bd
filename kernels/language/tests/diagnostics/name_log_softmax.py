def program(v):
    return log_softmax(linear(v.x, v.classes))
