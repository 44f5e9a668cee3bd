def program(v):
    def act(x):
        return relu(x)
    return act(v.degree)
