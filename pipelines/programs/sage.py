def sage(v, hidden=16, layers=2, drop=0.5):
    "GraphSAGE with mean aggregation (Hamilton, Ying & Leskovec 2017)."
    v.h = v.x
    for k in range(layers):
        last = k == layers - 1
        width = v.classes if last else hidden
        v.h = dropout(v.h, drop)
        v.h = linear(mean(u.h for u in v.innbs), width) + linear(v.h, width, bias=False)
        if not last:
            v.h = relu(v.h)
    return v.h
