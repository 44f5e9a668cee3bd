def program(v, act=relu):
    return act(v.x)
