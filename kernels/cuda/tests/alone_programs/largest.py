def largest(v, hidden=8):
    "Edges that win: gradients of max and min over in-edges, and over both directions with a condition."
    v.h = linear(v.x, hidden)
    v.m = max((u.h for u in v.innbs), default=0) + min((u.h for u in v.nbs if u.degree > 1), default=0)
    return linear(v.m, v.classes)
