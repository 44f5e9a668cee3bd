def turned(v, hidden=8):
    "Values of edges that both ends see: gradients change sides."
    v.h = linear(v.x, hidden)
    v.s = sum(tanh(u.h * v.h) for u in v.nbs)
    return linear(v.s, v.classes)
