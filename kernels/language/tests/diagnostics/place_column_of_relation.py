def program(v):
    for e in v.inedges["cites"]:
        e.a = e.w * 2
    return sum(e.a for e in v.inedges)
