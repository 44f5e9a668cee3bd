def program(v):
    return count(e for e in v.inedges if e.type == "like")
