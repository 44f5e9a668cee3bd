def gat(v, heads=8, hidden=8, out_heads=1, slope=0.2, drop=0.0, drop_shares=0.0):
    "Graph attention (Velickovic et al. 2018): two layers, the second a mean over its heads."
    v.h = elu(attend(v, dropout(v.x, drop), heads, hidden, slope, drop_shares))
    v.h = dropout(flatten(v.h), drop)
    return mean(attend(v, v.h, out_heads, v.classes, slope, drop_shares), axis=0)

def attend(v, x, heads, width, slope, drop):
    "One layer: [heads, width] a vertex."
    v.z = linear(x, (heads, width), bias=False)
    v.left, v.right = dot(v.z, param((heads, width))), dot(v.z, param((heads, width)))
    score = [leaky_relu(e.src.left + v.right, slope) for e in v.inedges]
    share = [dropout(a, drop) for a in softmax(score)]
    return sum(a * e.src.z for a, e in zip(share, v.inedges)) + bias()
