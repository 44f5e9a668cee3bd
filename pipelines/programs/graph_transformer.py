def graph_transformer(v, heads=4, hidden=8, edges=False, drop=0.0, drop_shares=0.0):
    "Graph transformer (Shi et al. 2021): attention by products over the in-edges; edges=True adds their features to keys and values."
    v.h = relu(attend(v, dropout(v.x, drop), heads, hidden, edges, drop_shares))
    return attend(v, dropout(v.h, drop), 1, v.classes, edges, drop_shares)

def attend(v, x, heads, width, edges, drop):
    "One layer: heads side by side, and the vertex's own linear."
    v.query, v.key, v.value = linear(x, (heads, width)), linear(x, (heads, width)), linear(x, (heads, width))
    if edges:
        given = [linear(e.x, (heads, width), bias=False) for e in v.inedges]
        key = [e.src.key + g for g, e in zip(given, v.inedges)]
        value = [e.src.value + g for g, e in zip(given, v.inedges)]
    else:
        key, value = [e.src.key for e in v.inedges], [e.src.value for e in v.inedges]
    score = [dot(v.query, k) / width ** 0.5 for k in key]
    share = [dropout(a, drop) for a in softmax(score)]
    return flatten(sum(a * b for a, b in zip(share, value))) + linear(x, heads * width)
