def folded(v, hidden=8):
    "Folds of numbers and of rows; none has a gradient."
    v.far = fold(farther, [e.w for e in v.inedges], 0.0)
    v.old = fold(older, [u.age for u in v.nbs if u.degree > 1], 0)
    v.row = fold(farther, [e.src.x - e.dst.x for e in v.inedges], 0.5)
    return linear(v.row * v.far, v.classes) + v.old

def farther(a, b):
    return a if a * a > b * b else b

def older(a, b):
    return max(a, b) if a // 2 + b % 3 != 4 else a + b
