def sgc(v, hops=2):
    "Simple graph convolution (Wu et al. 2019): features smoothed so many times, then one linear."
    degree = sum(e.w for e in v.inedges)
    v.scale = where(degree > 0, rsqrt(degree), 0)
    v.h = v.x
    for k in range(hops):
        v.h = v.scale * sum(e.w * e.src.scale * e.src.h for e in v.inedges)
    return linear(v.h, v.classes)
